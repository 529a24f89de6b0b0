import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { runCancel, runReadOptions, type WholeRun } from '../../api';
import { Actor, Avatar, useActors } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { Copy } from '../../parts/Copy';
import { FormDialog } from '../../parts/FormDialog';
import { Icon } from '../../parts/icons';
import { Card, Facts, Meter } from '../../parts/Page';
import { Shown } from '../../parts/states';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import { Steps } from './Steps';
import { Waiting } from './Waiting';
import { cents } from '../../parts/plain';
import { centsOf, isOver, span, standing } from './words';
import css from './work.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { grouped } from '../../parts/plain';
import { entitle } from '../../parts/visible';

/** How often a run under way is read again, for those who may not read the log and hear nothing of its events. */
const EVERY_MS = 2_000;

export function RunPage() {
  const { id } = useParams({ from: '/runs/$id' });
  const run = useQuery({
    ...runReadOptions({ path: { id } }),
    retry: false,
    refetchInterval: ({ state }) => (state.data && isOver(state.data.status) ? false : EVERY_MS),
  });
  useEffect(() => {
    entitle(run.data?.input?.slice(0, 60) ?? 'Run');
  }, [run.data?.input]);
  return (
    <div className={parts.page}>
      {!run.data && <h1 className={parts.vh}>Run</h1>}
      <Shown read={run}>{(data) => <Whole run={data} />}</Shown>
    </div>
  );
}

function Whole({ run }: { run: WholeRun }) {
  const { byId } = useActors();
  return (
    <>
      <header className={parts.hero}>
        <Avatar id={run.agent} actor={byId.get(run.agent)} size="lg" />
        <div>
          <h1 className={css.asked}>
            <Said>{run.input ?? 'What was asked is erased'}</Said>
          </h1>
          <div className={parts.meta}>
            <State state={standing(run)} />
            <span>
              <Actor id={run.agent} avatar={false} />, asked by <Actor id={run.asker} avatar={false} /> <When at={run.created_at} />
            </span>
            <span>
              {typeof run.budget_cents === 'number' ? centsOf(run.cost_cents, run.budget_cents) : cents(run.cost_cents)}
            </span>
          </div>
        </div>
        {!isOver(run.status) && <Cancel run={run} />}
      </header>
      <div className={parts.grid}>
        <div className={parts.stack} aria-live="polite">
          <Waiting run={run} />
          <Steps run={run} />
          <Ended run={run} />
        </div>
        <div className={parts.stack}>
          <About run={run} />
        </div>
      </div>
    </>
  );
}

function Ended({ run }: { run: WholeRun }) {
  if (run.error) {
    return (
      <Card title="It failed">
        <p style={{ color: 'var(--deny)' }}>{run.error.message}</p>
      </Card>
    );
  }
  if (run.reason) {
    return (
      <Card title="It was cancelled">
        <p className={css.said}>
          <Said>{run.reason}</Said>
        </p>
      </Card>
    );
  }
  if (run.status !== 'completed' || !run.output) return null;
  return (
    <Card title="What came of it" aside={<Copy text={run.output} what="the answer" />}>
      <p className={css.said}>
        <Said>{run.output}</Said>
      </p>
    </Card>
  );
}

function About({ run }: { run: WholeRun }) {
  const of: [string, ReactNode][] = [
    ['agent', <Actor key="agent" id={run.agent} />],
    ['asked by', <Actor key="asker" id={run.asker} />],
    [
      'task',
      <Link key="task" to="/tasks/$id" params={{ id: run.task }}>
        <code>{run.task.slice(0, 12)}…</code>
      </Link>,
    ],
  ];
  if (run.delegation) of.push(['under', <code key="delegation">{run.delegation}</code>]);
  if (run.parent) {
    const { parent } = run;
    of.push([
      'part of',
      <Link key="parent" to="/runs/$id" params={{ id: parent }}>
        <code>{parent.slice(0, 12)}…</code>
      </Link>,
    ]);
  }
  of.push(['steps', run.steps]);
  if (run.tokens.input + run.tokens.output > 0) of.push(['tokens', `${grouped(run.tokens.input)} read, ${grouped(run.tokens.output)} written`]);
  of.push(['cost', cents(run.cost_cents)], ['budget', typeof run.budget_cents === 'number' ? cents(run.budget_cents) : 'no limit'], [isOver(run.status) ? 'took' : 'for', span(run.duration_ms)]);
  if (run.ended_at) of.push(['ended', <When key="ended" at={run.ended_at} />]);
  return (
    <Card title="About" aside={<Copy text={run.id} what="the run’s id" />}>
      {typeof run.budget_cents === 'number' && run.budget_cents > 0 && <Meter value={run.cost_cents} of={run.budget_cents} label="spent of the budget" />}
      <Facts of={of} />
    </Card>
  );
}

function Cancel({ run }: { run: WholeRun }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    await act((headers) => runCancel({ path: { id: run.id }, body: reason.trim() ? { reason: reason.trim() } : {}, headers, throwOnError: true }), 'The run is cancelled');
    setOpen(false);
  };
  return (
    <div className={parts.actions}>
      <Do op="run.cancel" target={run.id} variant="default" onClick={() => setOpen(true)} leftSection={<Icon name="x" size={14} />}>
        Cancel
      </Do>
      <FormDialog title="Cancel this run" isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Cancel the run" busy={busy} color="red">
        <p className={parts.dim}>It ends with its parts. What it has done stays done.</p>
        <TextInput label="Why" value={reason} onChange={(event) => setReason(event.currentTarget.value)} data-autofocus />
      </FormDialog>
    </div>
  );
}
