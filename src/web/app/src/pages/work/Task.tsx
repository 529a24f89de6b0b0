import { NumberInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { taskAssign, taskComplete, taskReadOptions, taskRun, taskUpdate, type ShownRef, type WholeTask } from '../../api';
import { Actor, useActors } from '../../parts/Actor';
import { useUnsent } from '../../parts/unsent';
import { Do, useAct } from '../../parts/act';
import { Copy } from '../../parts/Copy';
import { FormDialog } from '../../parts/FormDialog';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { Card, Facts } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import { useOwners } from './NewTask';
import { PlanField } from './Plan';
import { RunRows } from './Runs';
import { Due, Priority, Title } from './Tasks';
import { useQuestion } from './useWork';
import { isAsk, isOver } from './words';
import css from './work.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { Choices } from '../../parts/Choices';
import { entitle } from '../../parts/visible';

export function TaskPage() {
  const { id } = useParams({ from: '/tasks/$id' });
  const task = useQuery({ ...taskReadOptions({ path: { id } }), retry: false, refetchInterval: 15_000 });
  const question = useQuestion(task.data && isAsk(task.data) ? task.data : undefined);
  const title = question || task.data?.title || 'Task';
  useEffect(() => {
    entitle(title);
  }, [title]);
  return (
    <div className={parts.page}>
      {!task.data && <h1 className={parts.vh}>Task</h1>}
      <Shown read={task}>{(data) => <Whole task={data} />}</Shown>
    </div>
  );
}

function Whole({ task }: { task: WholeTask }) {
  const { byId } = useActors();
  const isAgents = !!task.owner && byId.get(task.owner)?.kind === 'agent';
  const isOpen = !isOver(task.status);
  return (
    <>
      <header className={parts.hero}>
        <div>
          <h1>
            <Title task={task} />
          </h1>
          <div className={parts.meta}>
            <State state={task.status} />
            <Priority task={task} />
            <span>
              created by <Actor id={task.created_by} avatar={false} /> <When at={task.created_at} />
            </span>
            <Due task={task} />
          </div>
        </div>
        {isOpen && (
          <div className={parts.actions}>
            {isAgents && <Start task={task} />}
            <Assign task={task} />
            <Complete task={task} />
          </div>
        )}
      </header>
      <div className={parts.grid}>
        <div className={parts.stack}>
          {(task.goal || task.note || task.result) && (
            <Card>
              <div className={parts.stack}>
                <Text title="Goal" text={task.goal} />
                <Text title="Note" text={task.note} />
                <Text title="Result" text={task.result} />
              </div>
            </Card>
          )}
          <Card flush title="Runs">
            {task.runs.length > 0 ? <RunRows list={task.runs} /> : <Empty icon="bot" title={isAgents ? 'No agent has begun' : task.owner ? 'A person does this' : 'Nobody has taken it'} />}
          </Card>
        </div>
        <div className={parts.stack}>
          <About task={task} />
          <Refs task={task} isOpen={isOpen} />
        </div>
      </div>
    </>
  );
}

function Text({ title, text }: { title: string; text?: string | null }) {
  if (!text) return null;
  return (
    <div>
      <p className={css.label}>{title}</p>
      <p className={css.said}>
        <Said>{text}</Said>
      </p>
    </div>
  );
}

function About({ task }: { task: WholeTask }) {
  const of: [string, ReactNode][] = [['owner', task.owner ? <Actor key="owner" id={task.owner} /> : 'nobody yet']];
  of.push(['priority', task.priority]);
  if (task.due_at) of.push(['due', <When key="due" at={task.due_at} as="stamp" />]);
  if (task.parent) {
    const { parent } = task;
    of.push([
      'part of',
      <Link key="parent" to="/tasks/$id" params={{ id: parent }}>
        <code>{parent.slice(0, 12)}…</code>
      </Link>,
    ]);
  }
  of.push(['changed', <When key="changed" at={task.updated_at} />]);
  if (task.closed_at) of.push(['closed', <When key="closed" at={task.closed_at} />]);
  return (
    <Card title="About" aside={<Copy text={task.id} what="the task’s id" />}>
      <Facts of={of} />
    </Card>
  );
}

function Refs({ task, isOpen }: { task: WholeTask; isOpen: boolean }) {
  const [isAdding, setAdding] = useState(false);
  return (
    <Card
      title="What it is about"
      aside={
        isOpen && (
          <Do op="task.update" target={task.id} variant="default" size="compact-sm" onClick={() => setAdding(true)}>
            Add
          </Do>
        )
      }
    >
      {task.refs.length === 0 ? <p className={parts.dim}>No links yet. Add a web address or a record.</p> : task.refs.map((ref) => <Ref key={`${ref.collection} ${ref.id}`} of={ref} />)}
      <AddRef task={task} isOpen={isAdding} close={() => setAdding(false)} />
    </Card>
  );
}

function Ref({ of }: { of: ShownRef }) {
  const isAddress = of.collection === 'url' && /^https?:\/\//.test(of.id);
  return (
    <div className={css.ref}>
      <Icon name="link" size={14} />
      <div>
        {isAddress ? (
          <a href={of.id} rel="noreferrer noopener" target="_blank">
            <Said>{of.id}</Said>
          </a>
        ) : (
          <span>
            {of.id === 'hidden' ? (
              <span className={parts.dim}>something that you may not see, or that is not there any more</span>
            ) : (
              <>
                {of.collection}: <code>{of.id}</code>
              </>
            )}
          </span>
        )}
        {of.note && (
          <p className={parts.dim}>
            <Said>{of.note}</Said>
          </p>
        )}
      </div>
    </div>
  );
}

type Dialog = { task: WholeTask; isOpen: boolean; close: () => void };

function AddRef({ task, isOpen, close }: Dialog) {
  const [fields, setFields] = useState({ collection: 'url', thing: '', note: '' });
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { collection, thing, note } = fields;
    const body = { collection: collection.trim(), thing: thing.trim(), ...(note.trim() ? { note: note.trim() } : {}) };
    if (!(await act((headers) => taskUpdate({ path: { id: task.id }, body, headers, throwOnError: true }), 'Added'))) return;
    setFields({ collection: 'url', thing: '', note: '' });
    close();
  };
  return (
    <FormDialog title="What the task is about" isOpen={isOpen} close={close} submit={submit} action="Add" busy={busy} disabled={!fields.thing.trim()}>
      <TextInput label="Collection" description="url, or the collection that holds the thing" required value={fields.collection} onChange={(event) => setFields({ ...fields, collection: event.currentTarget.value })} />
      <TextInput label={fields.collection === 'url' ? 'Address' : 'Thing'} required value={fields.thing} onChange={(event) => setFields({ ...fields, thing: event.currentTarget.value })} data-autofocus />
      <TextInput label="Why it matters" value={fields.note} onChange={(event) => setFields({ ...fields, note: event.currentTarget.value })} />
    </FormDialog>
  );
}

function Assign({ task }: { task: WholeTask }) {
  const [isOpen, setOpen] = useState(false);
  const [to, setTo] = useState('');
  const [note, setNote] = useUnsent(`note with ${task.id}`);
  const owners = useOwners();
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act((headers) => taskAssign({ path: { id: task.id }, body: { to, ...(note.trim() ? { note: note.trim() } : {}) }, headers, throwOnError: true }), 'Assigned');
    if (done) setNote('');
    setOpen(false);
  };
  return (
    <>
      <Do op="task.assign" target={task.id} variant="default" onClick={() => setOpen(true)}>
        Assign
      </Do>
      <FormDialog title="Assign this task" isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Assign" busy={busy} disabled={!to}>
        <Select label="To" data={owners} searchable limit={100} required value={to || null} onChange={(value) => setTo(value ?? '')} data-autofocus />
        <Textarea label="What they should know" value={note} onChange={(event) => setNote(event.currentTarget.value)} />
      </FormDialog>
    </>
  );
}

function Start({ task }: { task: WholeTask }) {
  const [isOpen, setOpen] = useState(false);
  const [plan, setPlan] = useUnsent(`plan of ${task.id}`);
  const [budget, setBudget] = useState<number | string>('');
  const navigate = useNavigate();
  const { act, busy } = useAct();
  const isRunning = task.runs.some(({ status }) => !isOver(status));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = { plan: plan.trim() || null, ...(budget === '' ? {} : { budget_cents: Number(budget) }) };
    const begun = await act((headers) => taskRun({ path: { id: task.id }, body, headers, throwOnError: true }));
    if (!begun) return;
    setPlan('');
    setOpen(false);
    if ('run' in begun) void navigate({ to: '/runs/$id', params: { id: begun.run } });
  };
  return (
    <>
      <Do op="task.run" target={task.id} onClick={() => setOpen(true)} disabled={isRunning} leftSection={<Icon name="bot" size={14} />}>
        Run
      </Do>
      <FormDialog title="Let the agent work on it" size="lg" isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Run" busy={busy}>
        <NumberInput label="Budget" description="in cents; before it is exceeded, the run is held" min={0} allowDecimal={false} value={budget} onChange={setBudget} />
        <PlanField value={plan} set={setPlan} />
      </FormDialog>
    </>
  );
}

function Complete({ task }: { task: WholeTask }) {
  const [isOpen, setOpen] = useState(false);
  const [outcome, setOutcome] = useState<'done' | 'cancelled'>('done');
  const [result, setResult] = useUnsent(`result of ${task.id}`);
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act((headers) => taskComplete({ path: { id: task.id }, body: { outcome, ...(result.trim() ? { result: result.trim() } : {}) }, headers, throwOnError: true }), 'The task is closed');
    if (done) setResult('');
    setOpen(false);
  };
  return (
    <>
      <Do op="task.complete" target={task.id} variant="default" onClick={() => setOpen(true)} leftSection={<Icon name="check" size={14} />}>
        Close
      </Do>
      <FormDialog title="Close this task" isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Close the task" busy={busy}>
        <Choices
          fullWidth
          aria-label="outcome"
          value={outcome}
          onChange={setOutcome}
          data={[
            { value: 'done', label: 'It is done' },
            { value: 'cancelled', label: 'It was given up' },
          ]}
        />
        <Textarea label="What came of it" value={result} onChange={(event) => setResult(event.currentTarget.value)} data-autofocus />
      </FormDialog>
    </>
  );
}
