import { Go } from '../../parts/Go';
import type { ReactNode } from 'react';
import { NEWS } from '../../ahead';
import { inboxListOptions, type EventRecord, type Item, type ShownTask } from '../../api';
import { MINOR } from '../../api/events.gen';
import { useLive } from '../../live';
import { Actor } from '../../parts/Actor';
import { useGuarded } from '../../parts/guard';
import { Icon, type IconName } from '../../parts/icons';
import { Card, Page } from '../../parts/Page';
import { fieldsOf, Sentence } from '../../parts/Sentence';
import { Empty, Failed, Loading, Shown } from '../../parts/states';
import { When } from '../../parts/When';
import { useMe, usePending } from '../../shell/useMe';
import { useSummary } from '../approvals/useSummary';
import { useMine } from '../work/useWork';
import { Health } from './Health';
import { Decisions } from './Decisions';
import css from './home.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { grouped } from '../../parts/plain';
import { dayOf } from '../../parts/time';

function greeting(hour: number): string {
  return hour < 5 ? 'Good night' : hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening';
}

export function Home() {
  const me = useMe();
  const first = (me?.name || me?.id || '').split(/\s/)[0];
  const today = dayOf(new Date());
  return (
    <Page title={`${greeting(new Date().getHours())}, ${first}`} lead={today}>
      <div className={parts.grid}>
        <div className={parts.stack}>
          <Waiting />
          <Happened />
        </div>
        <div className={parts.stack}>
          <Health />
          <Decisions />
          <News />
        </div>
      </div>
    </Page>
  );
}

/** So many of each stand on the page. */
const MOST = 6;

function Waiting() {
  const pending = usePending();
  const summary = useSummary();
  const { questions, held, todo } = useMine();
  const mine = pending.data ?? [];
  const isNothing = mine.length + questions.length + held.length + todo.length === 0;
  return (
    <Card flush title="Waits for you">
      <Shown read={pending} rows={3}>
        {() =>
          isNothing ? (
            <Empty icon="check" title="Nothing waits for you">
              What needs your approval, your answer or your work appears here at once.
            </Empty>
          ) : (
            <>
              {questions.slice(0, MOST).map((run) => (
                <Row key={run.id} to={`/runs/${run.id}`} icon="help" tone="wait" at={run.created_at} about="waits for your answer">
                  <Actor id={run.agent} plain avatar={false} /> asks you something
                </Row>
              ))}
              {mine.slice(0, MOST).map((approval) => (
                <Row key={approval.id} to={`/approvals/${approval.id}`} icon="clock" tone="wait" at={approval.created_at} about={approval.reason}>
                  {summary(approval)}
                </Row>
              ))}
              <More count={mine.length - MOST} isCut={pending.hasMore} to="/approvals" one="approval" many="approvals" />
              {held.slice(0, MOST).map((run) => (
                <Row key={run.id} to={`/runs/${run.id}`} icon="power" tone="wait" at={run.created_at} about={run.waiting?.kind === 'budget' ? 'its budget holds it' : 'a kill switch holds it'}>
                  <Actor id={run.agent} plain avatar={false} /> does not go on
                </Row>
              ))}
              {todo.slice(0, MOST).map((task) => (
                <Row key={task.id} to={`/tasks/${task.id}`} icon="tasks" at={task.created_at} about={<Todo task={task} />}>
                  {task.title}
                </Row>
              ))}
              <More count={todo.length - MOST} to="/tasks" search={{ whose: 'mine' }} one="task" many="tasks" />
            </>
          )
        }
      </Shown>
    </Card>
  );
}

function Todo({ task }: { task: ShownTask }) {
  return (
    <>
      a task of yours{task.priority !== 'normal' && `, ${task.priority} priority`}
      {task.due_at && (
        <>
          , due <When at={task.due_at} ahead />
        </>
      )}
    </>
  );
}

/** What does not stand on the page is counted, with the way to it. */
function More({ count, isCut = false, to, search, one, many }: { count: number; isCut?: boolean; to: string; search?: Record<string, string>; one: string; many: string }) {
  if (count <= 0) return null;
  return (
    <p className={parts.cut}>
      <Go to={to} search={search}>
        {grouped(count)}
        {isCut && '+'} more {count === 1 && !isCut ? one : many}
      </Go>
    </p>
  );
}

function Row({ to, icon, tone, at, about, children }: { to: string; icon: IconName; tone?: string; at: string; about: ReactNode; children: ReactNode }) {
  return (
    <Go to={to} className={css.row}>
      <span data-tone={tone}>
        <Icon name={icon} />
      </span>
      <span>
        <Said className={css.title}>{children}</Said>
        <small>{about}</small>
      </span>
      <When at={at} />
    </Go>
  );
}

const TONES: Record<string, [string, IconName]> = { deny: ['deny', 'x'], needs_approval: ['wait', 'clock'], allow: ['allow', 'check'], system: ['plain', 'settings'] };

function Happened() {
  const { events, state } = useLive();
  const shown = events.filter((record) => !MINOR.has(fieldsOf(record).type)).slice(-12).reverse();
  return (
    <Card flush title="What happened" aside={<Go to="/log">The log</Go>}>
      {state === 'refused' ? (
        <Empty icon="shield" title="The log is not yours to read" />
      ) : shown.length === 0 && state === 'starting' ? (
        <Loading rows={6} />
      ) : shown.length === 0 ? (
        <Empty icon="log" title="Nothing happened yet" />
      ) : (
        shown.map((record) => <Happening key={record.seq} record={record} />)
      )}
    </Card>
  );
}

function Happening({ record }: { record: EventRecord }) {
  const [tone, icon] = TONES[record.decision] ?? ['plain', 'log' as const];
  return (
    <div className={css.row}>
      <span data-tone={tone}>
        <Icon name={icon} size={14} strokeWidth={2.4} />
      </span>
      <Sentence record={record} />
      <When at={record.at} />
    </div>
  );
}

const KINDS: Record<Item['kind'], IconName> = { approval: 'clock', decision: 'check', assignment: 'people', mention: 'inbox', alert: 'alert', question: 'help', failure: 'alert', knowledge: 'data' };

/** What stands under «Waits for you». */
const ELSEWHERE = new Set<Item['kind']>(['approval', 'question', 'assignment']);

function News() {
  const inbox = useGuarded('inbox.list', inboxListOptions({ query: { limit: NEWS } }));
  const items = (inbox.data ?? []).filter(({ kind, read_at, resolved_at }) => !ELSEWHERE.has(kind) && !read_at && !resolved_at).slice(0, 5);
  if (inbox.error) return <Failed error={inbox.error} />;
  if (items.length === 0) return null;
  return (
    <Card flush title="For your information">
      {items.map((item) => (
        <div key={item.id} className={css.row}>
          <span>
            <Icon name={KINDS[item.kind]} size={14} />
          </span>
          <span>
            <Said>{item.title}</Said>
            <small>
              <When at={item.created_at} />
            </small>
          </span>
        </div>
      ))}
    </Card>
  );
}
