import { isValidElement, type ReactNode } from 'react';
import { expect, it } from 'vitest';
import { EVENTS } from '../api/events.gen';
import { sentence } from './Sentence';

/** What a reader sees of it. */
function read(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(read).join('');
  if (!isValidElement<{ children?: ReactNode; label?: ReactNode; id?: string }>(node)) return typeof node === 'string' ? node : '';
  return read(node.props.children ?? node.props.label ?? node.props.id);
}

const told = (type: string, fields: object, by = 'ana') => read(sentence({ type, ...fields }, by));

it.each([
  ['owner_changed', { id: 'bot', owner: 'lea' }, 'made lea the owner of bot'],
  ['lead_changed', { id: 'team:ops', lead: 'lea' }, 'made lea the lead of team:ops'],
  ['lead_changed', { id: 'team:ops', lead: null }, 'left team:ops without a lead'],
  ['team_changed', { id: 'max', from: null, to: 'team:ops' }, 'moved max to team:ops'],
  ['team_changed', { id: 'max', from: 'team:ops', to: null }, 'moved max out of their team'],
  ['lead_changed', { id: 'team:ops', lead: 'ana' }, 'made ana the lead of team:ops'],
  ['actor_added', { id: 'bot', kind: 'outside_agent', role: 'member' }, 'added bot as outside agent'],
  ['actor_added', { id: 'max', kind: 'person', role: 'lead' }, 'added max as lead'],
  ['change_reviewed', { id: 'chg_1', verdict: 'approve', note: '' }, 'approved a change'],
  ['change_reviewed', { id: 'chg_1', verdict: 'request_changes', note: 'why?' }, 'requested changes to a change: «why?»'],
  ['kill_switch', { scope: 'global', engaged: false, reason: '' }, 'released the kill switch global'],
  ['approval_requested', { id: 'apr_1', summary: 'adds max as member' }, 'requested approval: adds max as member'],
  ['denied', { operation: 'kill', target: 'global', reason: 'no', count: 1 }, 'was refused kill on global, 1 more time: «no»'],
  ['denied', { operation: 'tick', target: '', reason: 'no' }, 'was refused tick: «no»'],
  ['context_forgotten', { events: [3, 5], reason: '' }, 'erased the content of 2 events'],
  ['record_written', { collection: 'vendors', count: 1, rows: [{ id: 'acme' }] }, 'wrote 1 record acme of vendors'],
  ['record_written', { collection: 'vendors', count: 3, rows: [{ id: 'acme' }] }, 'wrote 3 records acme and others of vendors'],
  ['record_written', { collection: 'vendors' }, 'wrote records of vendors'],
  ['entity_kept', { kind: 'Acme::Till', name: 'one' }, 'stored Acme::Till::one for decisions'],
  ['step_completed', { id: 'run_1', agent: 'bot', name: 'task.create' }, 'took a step of bot: task.create'],
  ['unheard_of', {}, 'unheard of'],
])('%s reads as its declaration says', (type, fields, expected) => {
  expect(told(type, fields)).toBe(expected);
});

it('leaves out whose step it was where they took it', () => {
  expect(told('step_completed', { id: 'run_1', agent: 'bot', name: 'x' }, 'bot')).toBe('took a step: x');
});

it('shows no mark of a declaration, whatever is missing', () => {
  for (const type of Object.keys(EVENTS)) expect(told(type, {})).not.toMatch(/[{}[\]«»`@#|?]/);
});
