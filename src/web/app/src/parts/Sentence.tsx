// An event as a sentence. A type that has none here is told by its own name.

import type { ReactNode } from 'react';
import { Go } from './Go';
import type { EventRecord } from '../api';
import { Actor } from './Actor';
import css from './parts.module.css';
import { Said } from './Said';

export type Fields = Record<string, unknown> & { type: string };
export const fieldsOf = (record: EventRecord) => record.event as Fields;

const text = (value: unknown) => (typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value));
const who = (value: unknown) => <Actor id={text(value)} plain avatar={false} />;
const code = (value: unknown) => <code>{text(value)}</code>;
const approval = (value: unknown, children: ReactNode) => (
  <Go to="/approvals/$id" params={{ id: text(value) }}>
    {children}
  </Go>
);
const change = (value: unknown, children: ReactNode = 'a change') => (
  <Go to="/policy/changes/$id" params={{ id: text(value) }}>
    {children}
  </Go>
);
const run = (e: Fields, children: ReactNode = 'a run') => (
  <Go to="/runs/$id" params={{ id: text(e.id) }}>
    {children}
  </Go>
);
const task = (e: Fields, children: ReactNode = 'a task') => (
  <Go to="/tasks/$id" params={{ id: text(e.id) }}>
    {children}
  </Go>
);
/** What an id leads to, where it has a page. */
const thing = (value: unknown) => {
  const id = text(value);
  if (id.startsWith('chg_')) return change(id);
  if (id.startsWith('run_')) return run({ type: '', id });
  if (id.startsWith('tsk_')) return task({ type: '', id });
  return id.startsWith('apr_') ? approval(id, 'a request') : code(id);
};
/** Whose run it is, where somebody else than the agent tells of it. */
const ofOther = (e: Fields, by: string) => (by === e.agent ? null : <> of {who(e.agent)}</>);
/** One record by its id, and several by their number, as far as the reader is told. */
const written = (e: Fields) => (!Array.isArray(e.rows) ? 'records' : e.count === 1 ? <>the record {code((e.rows[0] as { id?: string }).id)}</> : `${text(e.count)} records`);
const quoted = (value: unknown) => (text(value) ? <>: «<Said>{text(value)}</Said>»</> : null);

/** After the name of who did it. */
const SENTENCES: Record<string, (e: Fields, by: string) => ReactNode> = {
  company_created: (e) => <>founded {text(e.name)}</>,
  company_updated: () => 'changed the company’s settings',
  log_rekeyed: () => 'put a new signing key in the place of the log’s lost one',
  policy_applied: (e) => <>brought version {text(e.version)} of the policies into force</>,
  policy_source_changed: (e) => <>set the source of the policies to {text(e.kind)}</>,
  change_proposed: (e) => <>proposed {change(e.id)}{e.target_id ? <> of the view {code(e.target_id)}</> : null}{quoted(e.reason)}</>,
  change_reviewed: (e) => <>{e.verdict === 'approve' ? 'approved' : 'asked for changes to'} {change(e.id)}{quoted(e.note)}</>,
  evals_run: (e) => <>ran the tests of {change(e.id)}</>,
  canary_started: (e) => <>began a canary of {change(e.id)}</>,
  canary_measured: (e) => <>measured the canary of {change(e.id)}</>,
  canary_aborted: (e) => <>ended the canary of {change(e.id)}{quoted(e.reason)}</>,
  change_promoted: (e) => <>promoted {change(e.id)} to version {text(e.version)}</>,
  change_rejected: (e) => <>{e.withdrawn ? 'took back' : 'rejected'} {change(e.id)}{quoted(e.reason)}</>,
  actor_added: (e) => <>added {who(e.id)} as {e.kind === 'person' ? text(e.role) : text(e.kind).replace('_', ' ')}</>,
  actor_hired: (e) => <>hired {who(e.id)}</>,
  trust_changed: (e) => <>set the trust of {who(e.id)} from {text(e.from)} to {text(e.to)}{quoted(e.reason)}</>,
  role_changed: (e) => <>made {who(e.id)} {text(e.to)}, who was {text(e.from)}</>,
  team_changed: (e) => <>moved {who(e.id)} {e.to ? <>to {who(e.to)}</> : 'out of their team'}</>,
  actor_renamed: (e) => <>renamed {code(e.id)} to <Said>{text(e.name)}</Said></>,
  actor_offboarded: (e) => <>offboarded {who(e.id)}{quoted(e.reason)}</>,
  owner_changed: (e) => <>made {who(e.owner)} the owner of {who(e.id)}</>,
  lead_changed: (e) => (e.lead ? <>made {who(e.lead)} the lead of {who(e.id)}</> : <>left {who(e.id)} without a lead</>),
  blueprint_installed: (e) => <>installed the blueprint {text(e.blueprint)}</>,
  token_issued: (e) => <>issued a token to {who(e.holder)}{quoted(e.label)}</>,
  token_revoked: (e) => <>revoked a token of {who(e.holder)}</>,
  token_narrowed: (e) => <>narrowed a token of {who(e.holder)}</>,
  token_expired: (e) => <>noted the end of a token of {who(e.holder)}</>,
  kill_switch: (e) => <>{e.engaged ? 'stopped' : 'released'} {code(e.scope)}{quoted(e.reason)}</>,
  denied: (e) => <>was refused {code(e.operation)}{e.target ? <> on {thing(e.target)}</> : null}{Number(e.count) > 1 ? <>, {text(e.count)} times</> : null}{quoted(e.reason)}</>,
  access_decided: (e) => <>asked whether {code(e.subject)} may {code(e.action)} {code(e.resource)}</>,
  approval_requested: (e) => <>asked for approval{e.id ? <>: {approval(e.id, <Said>{text(e.summary)}</Said>)}</> : null}</>,
  arguments_kept: () => 'gave arguments with a request',
  approval_decided: (e) => <>{e.verdict === 'approve' ? 'approved' : 'rejected'} {approval(e.id, 'a request')} of {who(e.requester)}{quoted(e.note)}</>,
  approval_used: (e) => <>carried out {approval(e.id, 'an approved request')} of {who(e.requester)}</>,
  approval_stale: (e) => <>found {approval(e.id, 'a request')} of {who(e.requester)} stale{quoted(e.reason)}</>,
  approval_token_revoked: (e) => <>revoked a token that {approval(e.id, 'a request')} of {who(e.requester)} was made or decided with</>,
  approval_reminded: (e) => <>reminded those who may decide {approval(e.id, 'a request')} of {who(e.requester)}</>,
  approval_escalated: (e) => <>escalated {approval(e.id, 'a request')} of {who(e.requester)}</>,
  approval_cancelled: (e) => <>took back {approval(e.id, 'a request')}</>,
  approval_expired: (e) => <>let {approval(e.id, 'a request')} expire</>,
  break_glass_opened: (e) => <>broke the glass{quoted(e.reason)}</>,
  break_glass_used: (e) => <>went on with {code(e.operation)} under break-glass</>,
  break_glass_ended: (e) => <>ended the break-glass grant of {who(e.holder)}</>,
  break_glass_reviewed: (e) => <>found the break-glass grant of {who(e.holder)} {text(e.verdict)}</>,
  delegation_granted: (e) => <>delegated to {who(e.to)}: {text(e.authority)} {code(Array.isArray(e.scope) ? e.scope.join(', ') : e.scope)}</>,
  delegation_revoked: (e) => <>ended the delegation from {who(e.from)} to {who(e.to)}</>,
  delegation_expired: (e) => <>noted the end of the delegation from {who(e.from)} to {who(e.to)}</>,
  budget_reserved: (e) => <>set aside {text(e.cents)} cents{quoted(e.purpose)}</>,
  budget_settled: (e) => <>settled {text(e.cents)} cents</>,
  webhook_created: (e) => <>created a webhook to {text(e.host)}</>,
  webhook_updated: (e) => <>changed the webhook to {text(e.host)}</>,
  webhook_rotated: () => 'rotated a webhook’s secret',
  webhook_handed_on: (e) => <>handed a webhook on to {who(e.owner)}</>,
  webhook_disabled: (e) => <>disabled the webhook to {text(e.host)}{quoted(e.reason)}</>,
  webhook_deleted: () => 'deleted a webhook',
  webhook_tested: () => 'sent a test to a webhook',
  delivery_intended: (e) => <>is to deliver {code(e.topic)}</>,
  delivery_attempted: (e) => <>{e.outcome === 'delivered' ? 'delivered' : 'could not deliver'} a message{quoted(e.error)}</>,
  delivery_requeued: () => 'wants a message delivered once more',
  inbox_item_read: () => 'read an inbox item',
  task_created: (e) => <>created {task(e)}{quoted(e.title)}</>,
  task_assigned: (e) => <>assigned {task(e)} to {who(e.owner)}</>,
  task_ref_added: (e) => <>added to what {task(e)} is about</>,
  task_stalled: (e) => <>tells that {task(e)} is stalled: {text(e.reason)}</>,
  task_archived: (e) => <>archived {task(e)}</>,
  task_completed: (e) => <>closed {task(e)} as {text(e.outcome)}</>,
  run_started: (e) => <>set {who(e.agent)} to {run(e, 'work')}</>,
  run_waiting: (e, by) => <>had {run(e)}{ofOther(e, by)} wait{e.name ? <> at {code(e.name)}</> : null}</>,
  run_archived: (e) => <>archived {run(e)} of {who(e.agent)}</>,
  run_resumed: (e) => <>had {run(e)} of {who(e.agent)} go on</>,
  step_completed: (e, by) => <>took {run(e, 'a step')}{ofOther(e, by)}{e.name ? <>: {code(e.name)}</> : null}</>,
  step_denied: (e, by) => <>was refused {run(e, 'a step')}{ofOther(e, by)}: {code(e.name)}{quoted(e.reason)}</>,
  step_failed: (e, by) => <>could not take {run(e, 'a step')}{ofOther(e, by)}: {code(e.name)}{quoted(e.reason)}</>,
  run_answered: (e) => <>answered {run(e, 'a question')} of {who(e.agent)}</>,
  run_held: (e) => <>held {run(e)} of {who(e.agent)}{quoted(e.reason)}</>,
  run_budget_raised: (e) => <>let {run(e)} of {who(e.agent)} spend more</>,
  run_completed: (e) => <>ended {run(e)} of {who(e.agent)}</>,
  run_failed: (e) => <>saw {run(e)} of {who(e.agent)} fail{quoted(e.reason)}</>,
  run_cancelled: (e) => <>cancelled {run(e)} of {who(e.agent)}{quoted(e.reason)}</>,
  step_decided: (e, by) => <>decided {run(e, 'a step')}{ofOther(e, by)}</>,
  step_dispatched: (e, by) => <>asked a model for {run(e, 'a step')}{ofOther(e, by)}</>,
  step_unknown: (e, by) => <>does not know what came of {run(e, 'a step')}{ofOther(e, by)}</>,
  record_written: (e) => <>wrote {written(e)} of {code(e.collection)}</>,
  history_removed: (e) => <>removed earlier versions of records of {text(e.collection)}</>,
  record_deleted: (e) => <>deleted {code(e.id)} of {code(e.collection)}</>,
  record_rolled_back: (e) => <>rolled {code(e.id)} of {code(e.collection)} back{quoted(e.reason)}</>,
  record_flagged: (e) => <>flagged {code(e.record)} of {code(e.collection)}{quoted(e.note)}</>,
  schema_proposed: (e) => <>proposed to change {code(e.collection)}{quoted(e.reason)}</>,
  schema_applied: (e) => <>changed what {code(e.collection)} is made of</>,
  schema_rejected: (e) => <>rejected a change of {code(e.collection)}{quoted(e.reason)}</>,
  knowledge_proposed: (e) => <>proposed knowledge {code(e.id)}</>,
  document_indexed: (e) => <>had the document {code(e.id)} indexed: {text(e.chunks)} passages</>,
  embedding_requested: (e) => <>sent texts of knowledge {code(e.id)} to {text(e.model)}, which makes vectors of them</>,
  knowledge_embedded: (e) => <>had vectors of knowledge {code(e.id)} made by {text(e.model)}: {text(e.chunks)}</>,
  question_embedded: (e) => <>asked a question by its meaning, of {text(e.model)}</>,
  knowledge_quarantined: (e) => <>had knowledge {code(e.id)} quarantined: {Array.isArray(e.reasons) ? e.reasons.map(text).join('; ') : ''}</>,
  knowledge_accepted: (e) => <>accepted knowledge {code(e.id)} of {who(e.proposer)}{quoted(e.note)}</>,
  knowledge_rejected: (e) => <>rejected knowledge {code(e.id)} of {who(e.proposer)}{quoted(e.note)}</>,
  knowledge_retracted: (e) => <>retracted knowledge {code(e.id)} of {who(e.proposer)}{quoted(e.note)}</>,
  knowledge_expired: (e) => <>saw the time of knowledge {code(e.id)} end</>,
  content_kept: () => 'stored the content of an event',
  entities_changed: (e) => <>changed {text(Number(e.kept) + Number(e.removed))} of the entities that are kept for decisions</>,
  entity_kept: (e) => <>keeps {code(`${text(e.kind)}::${text(e.name)}`)} for decisions</>,
  entity_removed: () => <>keeps an entity for decisions no longer</>,
  context_forgotten: (e) => <>erased the content of {Array.isArray(e.events) ? e.events.length : ''} events{quoted(e.reason)}</>,
};

export const TYPES = Object.keys(SENTENCES);

export function Sentence({ record }: { record: EventRecord }) {
  const event = fieldsOf(record);
  const tell = SENTENCES[event.type];
  return (
    <span className={css.sentence}>
      <Actor id={record.actor} plain avatar={false} /> {event.erased ? <>did something whose content was erased ({event.type})</> : tell ? tell(event, record.actor) : event.type.replaceAll('_', ' ')}
      {record.on_behalf_of && record.on_behalf_of.length > 0 && <> on behalf of {record.on_behalf_of.map((id) => who(id)).at(-1)}</>}
    </span>
  );
}
