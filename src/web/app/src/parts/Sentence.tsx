// An event as a sentence, as its declaration says it; what the parts of a declaration mean stands there (`EventKind::says`).

import { Fragment, type ReactNode } from 'react';
import { Go } from './Go';
import type { EventRecord } from '../api';
import { EVENTS } from '../api/events.gen';
import { Actor } from './Actor';
import css from './parts.module.css';
import { Said } from './Said';

export type Fields = Record<string, unknown> & { type: string };
export const fieldsOf = (record: EventRecord) => record.event as Fields;
export const TYPES = Object.keys(EVENTS);

const shown = (value: unknown): string => (typeof value === 'string' ? value : Array.isArray(value) ? value.map(shown).join(', ') : JSON.stringify(value));
const isEmpty = (value: unknown) => value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
const at = (event: unknown, path: string) => path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], event);
/** The first of several fields that is given. */
const given = (event: Fields, paths: string) => paths.split('|').map((path) => at(event, path)).find((value) => !isEmpty(value));

/** What an id leads to, where it has a page. */
function Thing({ id, label }: { id: string; label: ReactNode }) {
  const params = { id };
  if (id.startsWith('chg_')) return <Go to="/policy/changes/$id" params={params}>{label}</Go>;
  if (id.startsWith('run_')) return <Go to="/runs/$id" params={params}>{label}</Go>;
  if (id.startsWith('tsk_')) return <Go to="/tasks/$id" params={params}>{label}</Go>;
  return id.startsWith('apr_') ? <Go to="/approvals/$id" params={params}>{label}</Go> : label === id ? <code>{id}</code> : label;
}

function counted(value: unknown, noun: string): string {
  const many = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  const count = Array.isArray(value) ? value.length : value;
  return count === undefined ? many : `${shown(count)} ${count === 1 ? noun : many}`;
}

/** A field in braces, with a mark before it that says what it is; undefined where it is not given. (Uncounted, outside brackets, are several.) */
function field(event: Fields, mark: string, words: string, isOptional: boolean): ReactNode | undefined {
  const [, paths = '', sign, rest = ''] = /^([^?=:#]*)([?=:#]?)(.*)$/.exec(words) ?? [];
  const value = given(event, paths);
  if (sign === '?' || sign === '=') {
    const [wanted = '', choice = ''] = sign === '=' ? rest.split('?') : ['', rest];
    const [yes, no] = choice.split('|');
    const chosen = (sign === '=' ? shown(value ?? '') === wanted : Boolean(value)) ? yes : no;
    return chosen?.startsWith(':') ? shown(given(event, chosen.slice(1)) ?? '').replaceAll('_', ' ') : chosen;
  }
  if (sign === '#' && !(isOptional && value === undefined)) return counted(value, rest);
  if (value === undefined) return undefined;
  const text = shown(value);
  if (mark === '@') return <Actor id={text} plain avatar={false} />;
  if (mark === '«') return <>«<Said>{text}</Said>»</>;
  if (sign !== ':') return text;
  const own = /^«(.*)»$/.exec(rest);
  return <Thing id={text} label={own ? <Said>{shown(given(event, own[1] ?? '') ?? text)}</Said> : rest || text} />;
}

/** `code` with fields in it; «what somebody wrote»; a field with its mark. */
const PART = /`((?:\{[^}]*\}|[^`{])*)`|«\{([^}]*)\}»|(@?)\{([^}]*)\}/g;

/** Words with their fields. What stands in brackets is left out if a field is not given, or tells whose it is though `by` did it. */
function filled(event: Fields, words: string, isOptional: boolean, by: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of words.matchAll(PART)) {
    const [whole, code, said, mark = '', plain = ''] = match;
    const part = code !== undefined ? filled(event, code, isOptional, by) : said !== undefined ? field(event, '«', said, isOptional) : field(event, mark, plain, isOptional);
    const isOwn = words.startsWith(' of @') && given(event, plain) === by;
    if (isOptional && (part === undefined || isOwn || (Array.isArray(part) && part.length === 0))) return [];
    parts.push(words.slice(end, match.index), code === undefined ? part : <code>{part}</code>);
    end = match.index + whole.length;
  }
  return [...parts, words.slice(end)];
}

/** The sentence after the name of who did it. */
export function sentence(event: Fields, by: string): ReactNode {
  const words = EVENTS[event.type];
  if (words === undefined) return event.type.replaceAll('_', ' ');
  // Brackets take turns with what stands between them.
  const parts = words.split(/[[\]]/).flatMap((part, place) => filled(event, part, place % 2 === 1, by));
  return parts.map((part, place) => <Fragment key={place}>{part}</Fragment>);
}

export function Sentence({ record }: { record: EventRecord }) {
  const event = fieldsOf(record);
  return (
    <span className={css.sentence}>
      <Actor id={record.actor} plain avatar={false} /> {event.erased ? <>did something whose content was erased ({event.type})</> : sentence(event, record.actor)}
      {record.on_behalf_of && record.on_behalf_of.length > 0 && <> on behalf of {record.on_behalf_of.map((id) => <Actor key={id} id={id} plain avatar={false} />).at(-1)}</>}
    </span>
  );
}
