import { Button, NumberInput, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { changeCanary, changeEvals, changeListOptions, changePromote, changeReject, changeReview, type ShownChange } from '../../api';
import { Do, useAct } from '../../parts/act';
import { useGuarded } from '../../parts/guard';
import { FormDialog } from '../../parts/FormDialog';
import { Icon } from '../../parts/icons';
import { Card } from '../../parts/Page';
import { Said } from '../../parts/Said';
import { useMe } from '../../shell/useMe';
import parts from '../../parts/parts.module.css';
import { grouped } from '../../parts/plain';
import { missingFor } from './canary';
import { ENDED } from './ended';

/** What can be done with a change, in the order in which it is usually done. */
export function Acts({ change }: { change: ShownChange }) {
  const me = useMe();
  const [note, setNote] = useState('');
  const { act, busy } = useAct();
  if (ENDED.has(change.state)) return null;
  const { id } = change;
  const path = { path: { id }, throwOnError: true } as const;
  const isAuthor = me?.id === change.author;
  const missing = missingFor(change);
  const noted = note.trim() ? { note: note.trim() } : {};
  return (
    <Card title="Next">
      <div className={parts.form}>
        {!change.evals.run && (
          <Do op="change.evals" target={id} loading={busy} onClick={() => void act((headers) => changeEvals({ ...path, headers }), 'The tests ran')} leftSection={<Icon name="check" size={14} />}>
            Run the tests
          </Do>
        )}
        {!isAuthor && (
          <>
            <Textarea label="Note" value={note} onChange={(event) => setNote(event.currentTarget.value)} />
            <Do op="change.review" target={id} loading={busy} onClick={() => void act((headers) => changeReview({ ...path, headers, body: { verdict: 'approve', ...noted } }), 'Approved')} variant={change.evals.run && change.state === 'proposed' ? 'filled' : 'default'}>
              Approve
            </Do>
            <Do op="change.review" target={id} loading={busy} variant="default" onClick={() => void act((headers) => changeReview({ ...path, headers, body: { verdict: 'request_changes', ...noted } }), 'Asked for changes')}>
              Ask for changes
            </Do>
          </>
        )}
        {isAuthor && change.reviews.length === 0 && <p className={parts.dim}>You proposed this: somebody else reviews it.</p>}
        {change.state !== 'canary' && <Try change={change} />}
        {missing > 0 && (
          <p className={parts.dim}>
            It can come into force after {grouped(missing)} more {missing === 1 ? 'decision' : 'decisions'}.
          </p>
        )}
        <Promote change={change} isNext={change.state === 'approved' || (change.state === 'canary' && missing === 0)} />
        <Reject change={change} isAuthor={isAuthor} />
      </div>
    </Card>
  );
}

/** It is over then, and its canary with it: that takes a second press. */
function Reject({ change, isAuthor }: { change: ShownChange; isAuthor: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const { act, busy } = useAct();
  const verb = isAuthor ? 'Withdraw' : 'Reject';
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = reason.trim() ? { reason: reason.trim() } : {};
    await act((headers) => changeReject({ path: { id: change.id }, headers, body, throwOnError: true }), isAuthor ? 'Withdrawn' : 'Rejected');
    setOpen(false);
  };
  return (
    <>
      <Do op="change.reject" target={change.id} variant="default" onClick={() => setOpen(true)}>
        {verb}
      </Do>
      <FormDialog title={`${verb} this change?`} isOpen={isOpen} close={() => setOpen(false)} submit={submit} action={verb} busy={busy} color="red">
        <p>
          «<Said>{change.reason || change.id}</Said>» ends{change.state === 'canary' ? ', and its canary with it' : ''}. It would have to be proposed again.
        </p>
        <Textarea label="Reason" value={reason} onChange={(event) => setReason(event.currentTarget.value)} data-autofocus />
      </FormDialog>
    </>
  );
}

/** In force is in force for everybody at once: that takes a second press. */
function Promote({ change, isNext }: { change: ShownChange; isNext: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    await act((headers) => changePromote({ path: { id: change.id }, headers, throwOnError: true }), 'In force');
    setOpen(false);
  };
  return (
    <>
      <Do op="change.promote" target={change.id} variant={isNext ? 'filled' : 'default'} onClick={() => setOpen(true)} leftSection={<Icon name="right" size={14} />}>
        Bring into force
      </Do>
      <FormDialog title="Bring into force?" isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Bring into force" busy={busy}>
        <p>
          «<Said>{change.reason || change.id}</Said>» decides from then on what everybody here may do. It can be rolled back.
        </p>
        {isOpen && <Ended by={change} />}
      </FormDialog>
    </>
  );
}

/** The other changes that have not ended. */
function useOpen(but: ShownChange): ShownChange[] {
  const all = useGuarded('change.list', changeListOptions({ query: { limit: 1000 } })).data ?? [];
  return all.filter(({ id, state }) => id !== but.id && !ENDED.has(state));
}

/** The other changes that are made from what is in force now: they could not come into force after this one. */
function Ended({ by }: { by: ShownChange }) {
  const others = useOpen(by);
  if (others.length === 0) return null;
  return (
    <>
      <p>It ends {others.length === 1 ? 'another open change' : `${others.length} other open changes`}, which would have to be proposed anew:</p>
      <ul>
        {others.slice(0, 5).map(({ id, reason, state }) => (
          <li key={id}>
            <Said>{reason || id}</Said> ({state.replace('_', ' ')})
          </li>
        ))}
      </ul>
    </>
  );
}

function Try({ change }: { change: ShownChange }) {
  const [isOpen, setOpen] = useState(false);
  const [percent, setPercent] = useState<number | string>(25);
  const [least, setLeast] = useState<number | string>(100);
  const { act, busy } = useAct();
  const other = useOpen(change).find(({ state }) => state === 'canary');
  if (other) {
    return (
      <p className={parts.dim}>
        One canary runs at a time, and this change has one:{' '}
        <Link to="/policy/changes/$id" params={{ id: other.id }}>
          <Said>{other.reason || other.id}</Said>
        </Link>
      </p>
    );
  }
  if (!isOpen) {
    return (
      <Do op="change.canary" target={change.id} input={{ percent: 25 }} variant="default" onClick={() => setOpen(true)}>
        Try beside what is in force
      </Do>
    );
  }
  const start = () =>
    void act((headers) => changeCanary({ path: { id: change.id }, body: { percent: Number(percent), min_decisions: Number(least) }, headers, throwOnError: true }), 'The canary runs');
  return (
    <div className={parts.form}>
      <NumberInput label="Share of decisions, percent" min={1} max={100} value={percent} onChange={setPercent} />
      <NumberInput label="Decisions before it may come into force" min={1} value={least} onChange={setLeast} />
      <Button onClick={start} loading={busy}>
        Start the canary
      </Button>
    </div>
  );
}
