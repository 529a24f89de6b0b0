import { TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ShownTask } from '../../api';
import { Actor, nameOf, useActors } from '../../parts/Actor';
import { Go } from '../../parts/Go';
import { Do } from '../../parts/act';
import { Icon } from '../../parts/icons';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { State, Tag } from '../../parts/Verdict';
import { VirtualRows } from '../../parts/Virtual';
import { useNow, When } from '../../parts/When';
import { useMe } from '../../shell/useMe';
import { NewTask } from './NewTask';
import { MOST } from '../../ahead';
import { useQuestion, useTasks } from './useWork';
import { COLUMNS, isAsk, isOver, isOverdue, sooner } from './words';
import css from './work.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { byTime, grouped } from '../../parts/plain';
import { Choices } from '../../parts/Choices';
import { useDialog } from '../../parts/asked';

export type TaskSearch = { view?: 'list'; whose?: 'mine' | 'people'; q?: string };

export function Tasks() {
  const { view, whose, q = '' } = useSearch({ from: '/tasks' });
  const navigate = useNavigate();
  const me = useMe();
  const { byId } = useActors();
  const tasks = useTasks();
  const [isOpen, setOpen] = useDialog('new');
  const set = (next: TaskSearch) => void navigate({ to: '/tasks', search: (before) => ({ ...before, ...next }), replace: true });
  const listed = useMemo(() => {
    const wanted = q.toLowerCase();
    const isAgents = (task: ShownTask) => !!task.owner && byId.get(task.owner)?.kind !== 'person';
    const isShown = (task: ShownTask) => (whose === 'mine' ? task.owner === me?.id || task.created_by === me?.id : whose === 'people' ? !isAgents(task) : true);
    const isFound = (task: ShownTask) => `${task.title} ${task.owner ?? ''} ${nameOf(byId.get(task.owner ?? ''), '')} ${task.id}`.toLowerCase().includes(wanted);
    return (tasks.data ?? []).filter((task) => isShown(task) && isFound(task)).sort(sooner);
  }, [tasks.data, whose, q, me?.id, byId]);
  return (
    <Page
      title="Tasks"
      lead="What is to be done, by people and agents."
      actions={
        <Do op="task.create" onClick={() => setOpen(true)} leftSection={<Icon name="plus" size={14} />}>
          New task
        </Do>
      }
    >
      <div className={parts.bar}>
        <TextInput placeholder="Title, owner, id" aria-label="find a task" value={q} onChange={(event) => set({ q: event.currentTarget.value || undefined })} leftSection={<Icon name="search" size={14} />} />
        <Choices
          aria-label="whose tasks"
          value={whose ?? 'all'}
          onChange={(value) => set({ whose: value === 'all' ? undefined : value })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'mine', label: 'Mine' },
            { value: 'people', label: 'People’s' },
          ]}
        />
        <Choices
          aria-label="how they are shown"
          value={view ?? 'board'}
          onChange={(value) => set({ view: value === 'list' ? 'list' : undefined })}
          data={[
            { value: 'board', label: 'Board' },
            { value: 'list', label: 'List' },
          ]}
        />
      </div>
      <Shown read={tasks} rows={8}>
        {(all) => (
          <>
            {all.length >= MOST && <p className={parts.cut}>These are the newest {grouped(MOST)}, those under way, and your own.</p>}
            {listed.length === 0 ? (
              <Card>
                <Empty icon="tasks" title={all.length === 0 ? 'Nothing to do' : 'No task like that'} />
              </Card>
            ) : view === 'list' ? (
              <List key={`${whose} ${q}`} list={listed} />
            ) : (
              <Board list={listed} isCut={all.length >= MOST} />
            )}
          </>
        )}
      </Shown>
      <NewTask isOpen={isOpen} close={() => setOpen(false)} />
    </Page>
  );
}

/** So many stand in a column of the board, of those that are closed fewer. */
const CARDS = 50;
const CLOSED = 20;

/** Of a list that is cut there may be more in each column. */
function Board({ list, isCut }: { list: ShownTask[]; isCut: boolean }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={css.board} tabIndex={0} role="region" aria-label="board">
      {COLUMNS.map(({ title, of }) => {
        const here = list.filter((task) => of.includes(task.status));
        const isLast = title === 'Closed';
        const shown = isLast ? here.sort((a, b) => byTime(b.closed_at ?? '', a.closed_at ?? '')).slice(0, CLOSED) : here.slice(0, CARDS);
        return (
          <section key={title} className={css.lane} aria-label={title} data-empty={here.length === 0 || undefined}>
            <h2>
              {title}{' '}
              <span>
                {grouped(here.length)}
                {isCut && '+'}
              </span>
            </h2>
            <ul>
              {shown.map((task) => (
                <li key={task.id}>
                  <BoardCard task={task} isLast={isLast} />
                </li>
              ))}
            </ul>
            {here.length > shown.length && (
              <Link to="/tasks" search={{ view: 'list' }} className={css.rest}>
                {here.length - shown.length} more in the list
              </Link>
            )}
          </section>
        );
      })}
    </div>
  );
}

function BoardCard({ task, isLast }: { task: ShownTask; isLast: boolean }) {
  return (
    <Go to="/tasks/$id" params={{ id: task.id }} className={css.task}>
      <Title task={task} />
      <span className={css.taskFoot}>
        {task.owner ? <Actor id={task.owner} plain /> : <span>nobody yet</span>}
        {isLast && <State state={task.status} />}
      </span>
      {!isLast && (task.due_at || task.priority !== 'normal') && (
        <span className={css.taskFoot}>
          <Priority task={task} />
          <Due task={task} />
        </span>
      )}
    </Go>
  );
}

export function Title({ task }: { task: ShownTask }) {
  return isAsk(task) ? <Asked task={task} /> : <Said className={css.taskTitle}>{task.title}</Said>;
}

/** A task that came of a question has no title of its own: it is called by the question. */
function Asked({ task }: { task: ShownTask }) {
  const { byId } = useActors();
  const owner = task.owner ?? '';
  const question = useQuestion(task);
  return <Said className={css.taskTitle}>{question || `Asked of ${nameOf(byId.get(owner), owner)}`}</Said>;
}

export function Priority({ task }: { task: ShownTask }) {
  if (task.priority !== 'urgent' && task.priority !== 'high') return null;
  return <Tag tone={task.priority === 'urgent' ? 'deny' : 'wait'}>{task.priority}</Tag>;
}

export function Due({ task }: { task: ShownTask }) {
  const now = useNow();
  if (!task.due_at || isOver(task.status)) return null;
  return (
    <span className={css.due} data-late={isOverdue(task, now) || undefined}>
      due <When at={task.due_at} />
    </span>
  );
}

function List({ list }: { list: ShownTask[] }) {
  return (
    <Card flush>
      <div className={css.headRow} aria-hidden="true">
        <span>Task</span>
        <span>State</span>
        <span>Owner</span>
        <span>Due or created</span>
      </div>
      <VirtualRows list={list} height={52} className={list.length > 12 ? css.scroll : undefined}>
        {(task, style) => (
          <Go key={task.id} to="/tasks/$id" params={{ id: task.id }} className={css.row} style={style}>
            <span className={css.rowTitle}>
              <Title task={task} /> <Priority task={task} />
            </span>
            <span>
              <State state={task.status} />
            </span>
            <span>{task.owner ? <Actor id={task.owner} plain /> : 'nobody yet'}</span>
            <span className={css.rowWhen}>{task.due_at && !isOver(task.status) ? <Due task={task} /> : <When at={task.created_at} />}</span>
          </Go>
        )}
      </VirtualRows>
    </Card>
  );
}
