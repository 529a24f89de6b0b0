// Steps of a change of a collection, in words.

import type { Operation } from '../../api';

/** What a step does; what only its contents say is shown beside. */
export function step(op: Operation): string {
  if ('create' in op) return `make it, with ${fields(Object.keys(op.create.spec.fields))}`;
  if ('add_field' in op) return `add the field ${op.add_field.name}: ${op.add_field.field.type}`;
  if ('rename_field' in op) return `rename ${op.rename_field.name} to ${op.rename_field.to}`;
  if ('retype_field' in op) return `make ${op.retype_field.name} a ${op.retype_field.type}${options(op.retype_field.options)}`;
  if ('merge_field' in op) return `merge ${op.merge_field.name} into ${op.merge_field.into}: ${op.merge_field.name} goes`;
  if ('alter_field' in op) return `of ${op.alter_field.name}: ${said(op.alter_field.field)}`;
  if ('alter' in op) return `of the collection: ${said(op.alter)}`;
  if ('retire_field' in op) return `retire the field ${op.retire_field.name}, with its values`;
  if ('index' in op) return `${op.index.on ? 'index' : 'index no longer'} ${op.index.name}`;
  if ('semantics' in op) return 'say anew what its records mean';
  if ('retention' in op) return 'keep its records for another time';
  return 'retire the collection';
}

/** What a step does that is written as JSON; nothing of what is none. */
export function inWords(json: string): string {
  try {
    return step(JSON.parse(json) as Operation);
  } catch {
    return '';
  }
}

/** Whether something is gone once it is applied, for good. */
export const isFinal = (op: Operation) => 'retire_field' in op || 'merge_field' in op || 'retire' in op || 'retention' in op;

/** What is said otherwise: `label none, max 10`. */
const said = (changes: object) =>
  Object.entries(changes)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${shown(value)}`)
    .join(', ');
const shown = (value: unknown) => (value === null ? 'none' : Array.isArray(value) ? value.join(' or ') : value === true ? 'yes' : value === false ? 'no' : String(value));

const fields = (names: string[]) => (names.length === 1 ? `the field ${names[0]}` : `${names.length} fields: ${names.join(', ')}`);
const options = (all: string[] | undefined) => (all && all.length > 0 ? ` of ${all.join(', ')}` : '');
