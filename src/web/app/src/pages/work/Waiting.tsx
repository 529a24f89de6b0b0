import { Button, NumberInput, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { approvalReadOptions, budgetRaise, runAnswer, type ShownStep, type WholeRun } from '../../api';
import { Actor } from '../../parts/Actor';
import { useUnsent } from '../../parts/unsent';
import { Do, useAct, useMay } from '../../parts/act';
import { Icon } from '../../parts/icons';
import { DECIDES } from '../../parts/meant';
import { NotSent } from '../../parts/NotSent';
import { Kbd } from '../../parts/Page';
import { sentence, Shown } from '../../parts/states';
import { When } from '../../parts/When';
import { mod } from '../../shell/pages';
import { useMe } from '../../shell/useMe';
import { Decide } from '../approvals/Decide';
import { centsOf, isOver } from './words';
import css from './work.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';

/** What a run waits for, and what ends the waiting: calls that were made together each wait by themselves. */
export function Waiting({ run }: { run: WholeRun }) {
  return (
    <>
      <Answered run={run} />
      <Open run={run} />
    </>
  );
}

/** Questions that others have answered while one still wrote. */
function Answered({ run }: { run: WholeRun }) {
  const answered = run.trace.filter(({ kind, status }) => kind === 'question' && status !== 'waiting');
  return answered.map(({ seq }) => <NotSent key={seq} what={answerTo(run, seq)} noun="answer" why="The run does not wait for it any more." />);
}

const answerTo = ({ id }: WholeRun, step: number) => `answer to ${id} ${step}`;

function Open({ run }: { run: WholeRun }) {
  if (isOver(run.status)) return null;
  if (run.waiting?.kind === 'budget') {
    const { reason = '', until, payer, beside } = run.waiting;
    if (beside) return <Beside reason={reason} />;
    if (until) return <Spent reason={reason} until={until} />;
    return payer ? <OfWhole reason={reason} payer={payer} /> : <Budget run={run} />;
  }
  if (run.waiting?.kind === 'model') return <Modelless reason={run.waiting.reason} />;
  if (run.waiting?.kind === 'rate_limit') return <Limited reason={run.waiting.reason} until={run.waiting.until} />;
  if (run.status === 'held') return <Stopped />;
  return run.trace.filter((step) => step.status === 'waiting').map((step) => <One key={step.seq} run={run} step={step} />);
}

function One({ run, step }: { run: WholeRun; step: ShownStep }) {
  const { waiting } = step;
  switch (waiting?.kind) {
    case 'approval':
      return <Approval id={waiting.approval} />;
    case 'question':
      return <Question run={run} step={step} to={waiting.to} />;
    case 'outcome':
      return <Outcome run={run} step={step} to={waiting.to} />;
    case 'run':
      return (
        <Panel icon="branch" title="It waits for a part">
          <Link to="/runs/$id" params={{ id: waiting.run }}>
            See how the part goes
          </Link>
        </Panel>
      );
    case 'time':
      return (
        <Panel icon="clock" title="It rests">
          and goes on <When at={waiting.until} ahead />.
        </Panel>
      );
    default:
      return null;
  }
}

function Panel({ icon, title, children }: { icon: 'clock' | 'branch' | 'help' | 'power' | 'key'; title: ReactNode; children?: ReactNode }) {
  return (
    <section className={css.panel}>
      <Icon name={icon} size={18} />
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </section>
  );
}

/** There is enough once calls of others have ended. */
function Beside({ reason }: { reason: string }) {
  return (
    <Panel icon="clock" title="It waits for money that is set aside">
      {reason}. It goes on once enough of that is free again.
    </Panel>
  );
}

function Modelless({ reason }: { reason: string }) {
  return (
    <Panel icon="clock" title="It waits for a model">
      {reason}. Whoever runs the server sees to that; it goes on then.
    </Panel>
  );
}

/** A limit of the policies holds it for a moment. */
function Limited({ reason, until }: { reason: string; until: string }) {
  return (
    <Panel icon="clock" title="A limit holds it">
      <p>{sentence(reason)}</p>
      <p>
        It goes on by itself: <When at={until} ahead />.
      </p>
    </Panel>
  );
}

function Stopped() {
  return (
    <Panel icon="power" title="A kill switch holds it">
      A kill switch stops its agent, or somebody for whom it works. The run stays where it is until that is released. <Link to="/kill">See which switch</Link>
    </Panel>
  );
}

function Approval({ id }: { id: string }) {
  const approval = useQuery({ ...approvalReadOptions({ path: { id } }), retry: false, refetchInterval: 5_000 });
  if (approval.error) {
    return (
      <Panel icon="clock" title="It waits for approval">
        Others decide it.
      </Panel>
    );
  }
  return (
    <Panel icon="clock" title="It waits for approval">
      <Shown read={approval} rows={2}>
        {(data) => (
          <div className={parts.stack}>
            <p>
              <Link to="/approvals/$id" params={{ id }}>
                <Said>{data.summary}</Said>
              </Link>
              <span className={parts.dim}> {data.reason}</span>
            </p>
            <Decide approval={data} />
          </div>
        )}
      </Shown>
    </Panel>
  );
}

function Question({ run, step, to }: { run: WholeRun; step: ShownStep; to: string[] }) {
  const me = useMe();
  return (
    <Panel icon="help" title={<Said>{step.question ?? 'It has asked something that is erased'}</Said>}>
      {me && to.includes(me.id) ? (
        <Answer run={run} step={step.seq} />
      ) : (
        <p>
          <Actor id={run.agent} avatar={false} /> waits for the answer of{' '}
          {to.map((id) => (
            <Actor key={id} id={id} />
          ))}
        </p>
      )}
    </Panel>
  );
}

/** Whether a tool has done something, where nobody but people can tell. */
function Outcome({ run, step, to }: { run: WholeRun; step: ShownStep; to: string[] }) {
  const me = useMe();
  const { act, busy } = useAct();
  const say = (text: string) =>
    void act((headers) => runAnswer({ path: { id: run.id }, body: { text, question: step.seq }, headers, throwOnError: true }), 'Answered');
  return (
    <Panel icon="help" title={<>It is not known whether {step.name} took effect</>}>
      {step.question && <p>{step.question}</p>}
      {me && to.includes(me.id) ? (
        <div className={css.buttons}>
          <Button {...DECIDES} onClick={() => say('yes')} loading={busy}>
            It did
          </Button>
          <Button {...DECIDES} variant="default" onClick={() => say('no')} disabled={busy}>
            It did not
          </Button>
          <Button {...DECIDES} variant="default" onClick={() => say('retry')} disabled={busy}>
            Call it again
          </Button>
        </div>
      ) : (
        <p>
          It waits for{' '}
          {to.map((id) => (
            <Actor key={id} id={id} />
          ))}
        </p>
      )}
    </Panel>
  );
}

function Answer({ run, step }: { run: WholeRun; step: number }) {
  const [text, setText] = useUnsent(answerTo(run, step));
  const { act, busy } = useAct();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!text.trim()) return;
    if (await act((headers) => runAnswer({ path: { id: run.id }, body: { text: text.trim(), question: step }, headers, throwOnError: true }), 'Answered')) setText('');
  };
  return (
    <form onSubmit={(event) => void submit(event)} className={parts.form}>
      <Textarea
        ref={field}
        aria-label="Your answer"
        placeholder="Your answer"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
        }}
      />
      <div className={css.buttons}>
        <Button type="submit" loading={busy} disabled={!text.trim()}>
          Answer
        </Button>
        <span className={css.hint}>
          <Kbd>{mod}Enter</Kbd>
        </span>
      </div>
    </form>
  );
}

/** Held by a budget that others share: more for this run would not help. */
function Spent({ reason, until }: { reason: string; until: string }) {
  return (
    <Panel icon="key" title="A budget holds it">
      <p>{reason}.</p>
      <p>
        It goes on by itself: <When at={until} ahead />.
      </p>
    </Panel>
  );
}

/** Held by the budget of what it is a part of: that one is raised there. */
function OfWhole({ reason, payer }: { reason: string; payer: string }) {
  return (
    <Panel icon="key" title="The budget of its whole holds it">
      <p>{reason}.</p>
      <p>
        <Link to="/runs/$id" params={{ id: payer }}>
          See the run whose budget it is
        </Link>
        : once that is raised, or another part has ended, it goes on.
      </p>
    </Panel>
  );
}

function Budget({ run }: { run: WholeRun }) {
  const budget = run.budget_cents ?? 0;
  const [next, setNext] = useState<number | string>(Math.max(budget * 2, run.cost_cents + 50));
  const may = useMay('budget.raise', run.id);
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    await act((headers) => budgetRaise({ path: { id: run.id }, body: { budget_cents: Number(next) }, headers, throwOnError: true }), 'It goes on');
  };
  return (
    <Panel icon="key" title="Its budget holds it">
      <p>
        It has spent {centsOf(run.cost_cents, budget)}, and its next step would cost more than is left.
      </p>
      {run.delegation && (
        <p>
          It spends the budget of <code>{run.delegation}</code>, too: if nothing is left there, it cannot be raised, only cancelled.
        </p>
      )}
      <form onSubmit={(event) => void submit(event)} className={css.inline}>
        <NumberInput aria-label="What it may spend in all, in cents" suffix=" ct" min={run.cost_cents + 1} allowDecimal={false} value={next} onChange={setNext} w={140} />
        <Do op="budget.raise" target={run.id} type="submit" loading={busy} disabled={Number(next) <= budget}>
          Raise the budget
        </Do>
      </form>
      {may?.decision === 'deny' && <p className={parts.dim}>You may not raise it: {may.reason}. Who owns or leads the agent may.</p>}
    </Panel>
  );
}
