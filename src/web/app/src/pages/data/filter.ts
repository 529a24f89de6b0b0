// What of a collection is looked at, as its address says it, and how values read.

import type { Field, FieldKind } from '../../api';

export type DataSearch = { field?: string; op?: string; value?: string; sort?: string };

const NUMBERS: FieldKind[] = ['integer', 'decimal', 'money', 'date', 'time'];
const WORDS: FieldKind[] = ['text', 'long_text', 'link'];

/** How a field can be compared, the usual way first. */
export function comparisons(kind: FieldKind): { value: string; label: string }[] {
  if (WORDS.includes(kind)) return [{ value: 'contains', label: 'contains' }, { value: 'starts_with', label: 'begins with' }, { value: 'eq', label: 'is' }];
  if (NUMBERS.includes(kind)) return [{ value: 'gte', label: 'is at least' }, { value: 'lte', label: 'is at most' }, { value: 'eq', label: 'is' }];
  if (kind === 'choices') return [{ value: 'contains', label: 'contains' }];
  return [{ value: 'eq', label: 'is' }];
}

/** The filter that an address asks for; none as long as something of it is missing. */
export function filterOf({ field, op, value }: DataSearch, fields: Record<string, Field>): unknown {
  const kind = field ? fields[field]?.type : undefined;
  if (!field || !kind || value === undefined || value === '') return undefined;
  const way = comparisons(kind).find((one) => one.value === op)?.value ?? comparisons(kind)[0]?.value ?? 'eq';
  return { [field]: { [way]: typed(kind, value) } };
}

function typed(kind: FieldKind, value: string): unknown {
  if (kind === 'flag') return value === 'true';
  if (kind === 'integer' && /^-?\d+$/.test(value)) return Number(value);
  return value;
}

/** The columns of a table: the key first, and what is short before what is long. */
export function columnsOf(key: string[], fields: Record<string, Field>, withheld: string[], most = 6): string[] {
  const rank = (name: string) => (key.includes(name) ? 0 : fields[name]?.type === 'long_text' || fields[name]?.type === 'json' ? 2 : 1);
  const seen = Object.keys(fields).filter((name) => !withheld.includes(name));
  return seen.sort((a, b) => rank(a) - rank(b)).slice(0, most);
}

/** The order after a click on a column: up, down, and as it was. */
export function turned(sort: string | undefined, name: string): string | undefined {
  if (sort === name) return `-${name}`;
  return sort === `-${name}` ? undefined : name;
}

export const isOrdered = (kind: FieldKind) => !['long_text', 'json', 'choices'].includes(kind);

export const nameOf = (name: string, field: Field | undefined) => field?.title || name.replaceAll('_', ' ');

/** Whether there is a word to look for. */
export const isWord = (text: string) => /[\p{L}\p{N}]/u.test(text);
