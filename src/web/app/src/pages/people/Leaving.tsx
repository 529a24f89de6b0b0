import { Checkbox, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { actorOffboard, approvalListOptions, taskListOptions, tokenListOptions, webhookListOptions, type ShownActor } from '../../api';
import { offered, useActors } from '../../parts/Actor';
import { useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { useDelegations } from './Delegations';
import { many } from '../../parts/plain';
import { teamsOf } from '../../parts/teams';
import { isOver } from '../work/words';
import { revoked } from './Offboard';
import css from './people.module.css';

/** What leaving would end or hand on, as far as the reader can see it. */
function useConsequences(actor: ShownActor, successor: string, keep: boolean, enabled: boolean): string[] {
  const tokens = useGuarded('token.list', { ...tokenListOptions({ query: { actor: actor.id, limit: 1000 } }), enabled });
  const approvals = useGuarded('approval.list', { ...approvalListOptions({ query: { status: 'pending', limit: 1000 } }), enabled });
  const webhooks = useGuarded('webhook.list', { ...webhookListOptions({ query: { limit: 100 } }), enabled });
  const delegations = useDelegations();
  const tasks = useGuarded('task.list', { ...taskListOptions({ query: { owner: actor.id, limit: 1000 } }), enabled });
  const { byId } = useActors();
  if (actor.kind === 'team') return ['The team is removed. It must be empty.'];
  const live = (tokens.data ?? []).filter(({ status }) => status === 'active').length;
  const asked = (approvals.data ?? []).filter((approval) => approval.actor === actor.id).length;
  const given = (delegations.data ?? []).filter(({ from, to, status }) => status === 'active' && (from === actor.id || to === actor.id)).length;
  const owned = (webhooks.data?.data ?? []).filter(({ owner }) => owner === actor.id).length;
  const agents = actor.agents?.length ?? 0;
  const leads = actor.leads?.length ?? 0;
  const open = (tasks.data ?? []).filter(({ status }) => !isOver(status)).length;
  const heir = successor || teamsOf(actor.id, byId).map((team) => byId.get(team)?.lead).find((lead) => lead && lead !== actor.id);
  // Without somebody to take them over, what belongs to them is stopped.
  const handedOn = (count: number, one: string, otherwise: string) => (count > 0 ? `${many(count, one)} ${heir ? `handed on to ${heir}` : otherwise}` : '');
  return [
    // Those who may not list their tokens see none.
    live > 0 ? `${many(live, 'token')} revoked at once` : 'their tokens revoked at once',
    actor.kind === 'person' ? (keep ? 'tokens that they issued for others stay' : 'tokens that they issued for others revoked, too') : '',
    asked > 0 ? `${many(asked, 'pending request')} cancelled` : '',
    given > 0 ? `${many(given, 'delegation')} ended, with all that was handed on of them` : '',
    handedOn(agents, 'agent', 'stopped by a kill switch'),
    handedOn(leads, 'team', 'left without a lead'),
    handedOn(open, 'open task', 'left with them'),
    handedOn(owned, 'webhook', 'disabled'),
  ].filter(Boolean);
}

/** The dialog in which somebody is offboarded: no page waits for it. */
export default function Leaving({ actor, verb, isOpen, close }: { actor: ShownActor; verb: string; isOpen: boolean; close: () => void }) {
  const [reason, setReason] = useState('');
  const [successor, setSuccessor] = useState('');
  const [keep, setKeep] = useState(false);
  const { all } = useActors();
  const { act, busy } = useAct();
  const consequences = useConsequences(actor, successor, keep, isOpen);
  const people = offered(all, ({ kind, status, id }) => kind === 'person' && status === 'active' && id !== actor.id);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = { ...(reason.trim() ? { reason: reason.trim() } : {}), ...(successor ? { successor } : {}), ...(keep ? { keep_issued: true } : {}) };
    await act((headers) => actorOffboard({ path: { id: actor.id }, body, headers, throwOnError: true }), ({ issued_revoked }) => `${actor.id} is offboarded${revoked(issued_revoked)}`);
    close();
  };
  return (
    <FormDialog title={`${verb} ${actor.name || actor.id}`} isOpen={isOpen} close={close} submit={submit} action={verb} busy={busy} color="red">
      <ul className={css.consequences} aria-label="what follows">
        {consequences.map((text) => (
          <li key={text}>
            <Icon name="alert" size={14} />
            {text}
          </li>
        ))}
      </ul>
      <TextInput label="Why" value={reason} onChange={(event) => setReason(event.currentTarget.value)} data-autofocus />
      {actor.kind !== 'team' && <Select label="Successor" description="takes over agents, teams and webhooks" data={people} searchable clearable value={successor || null} onChange={(value) => setSuccessor(value ?? '')} />}
      {actor.kind === 'person' && <Checkbox label="Keep the tokens that they issued for others" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />}
    </FormDialog>
  );
}
