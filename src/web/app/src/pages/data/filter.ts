// What of a collection is looked at, as its address says it, and how values read.

import type { Field, FieldKind, ShownCollection } from '../../api';

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

/** The columns that a reader would see beside the others if they could: of those that are named, or of all. */
export function hiddenOf(of: Pick<ShownCollection, 'fields' | 'withheld'>, named?: string[]): string[] {
  const asked = new Set(named ?? Object.keys(of.fields));
  return of.withheld.filter((name) => asked.has(name)).map((name) => nameOf(name, of.fields[name]));
}

/** The order after a click on a column: up, down, and as it was. */
export function turned(sort: string | undefined, name: string): string | undefined {
  if (sort === name) return `-${name}`;
  return sort === `-${name}` ? undefined : name;
}

export const isOrdered = (kind: FieldKind) => !['long_text', 'json', 'choices'].includes(kind);

export const nameOf = (name: string, field: Field | undefined) => field?.title || name.replaceAll('_', ' ');

/** How a figure or a group reads: as the field that it is of, with its unit; a period and a count are what they are. */
export function figureField(name: string, of: Pick<ShownCollection, 'fields' | 'semantics'> | undefined): Field | undefined {
  const [, measured] = /^(?:sum|avg|min|max):(.*)$/.exec(name) ?? [];
  const metric = of?.semantics.metrics.find((one) => one.name === name);
  if (metric?.agg === 'count' || metric?.agg === 'distinct') return undefined;
  if (metric?.expr) return { type: 'decimal', unit: metric.unit };
  const dimension = of?.semantics.dimensions.find((one) => one.name === name && !one.grain);
  const field = of?.fields[measured ?? metric?.field ?? dimension?.field ?? name];
  return field && metric?.unit ? { ...field, unit: metric.unit } : field;
}

/** How long bars are in percent of the longest; what is less than nothing has none. */
export function lengths(values: unknown[]): number[] {
  const sizes = values.map((value) => Math.max(0, Number(value ?? 0)) || 0);
  const most = Math.max(...sizes, 0);
  return sizes.map((size) => (most === 0 ? 0 : Math.round((100 * size) / most)));
}

/** Whether there is a word to look for. */
export const isWord = (text: string) => /[\p{L}\p{N}]/u.test(text);
