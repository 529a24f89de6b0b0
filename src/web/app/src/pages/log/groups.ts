// What the server does by itself comes in crowds: many events in a row stand as one, which opens.

import type { EventRecord } from '../../api';

export type Group = { key: number; events: EventRecord[]; isOpen: boolean };
export type Row = { record: EventRecord } | Group;

/** Fewer in a row are not worth hiding. */
const LEAST = 3;

/** The rows of a list of events, the newest first. A group grows at both ends, with what happens and with what is read of
 * earlier: it is open while it has events of one that was opened, and keeps the key by which it was `known` before, so that
 * whoever stands on it stays there. */
export function rowsOf(events: EventRecord[], opened: ReadonlySet<number>, known: ReadonlySet<number>): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < events.length; ) {
    const own = runOf(events, at);
    if (own.length < LEAST) {
      rows.push(...events.slice(at, at + Math.max(1, own.length)).map((record) => ({ record })));
    } else {
      const isOpen = own.some(({ seq }) => opened.has(seq));
      const key = own.find(({ seq }) => known.has(seq)) ?? own.at(-1);
      rows.push({ key: key?.seq ?? 0, events: own, isOpen }, ...(isOpen ? own.map((record) => ({ record })) : []));
    }
    at += Math.max(1, own.length);
  }
  return rows;
}

/** The keys of the groups among the rows, with those that were known before. */
export function keysOf(rows: Row[], known: ReadonlySet<number>): ReadonlySet<number> {
  const fresh = rows.flatMap((row) => ('key' in row && !known.has(row.key) ? [row.key] : []));
  return fresh.length === 0 ? known : new Set([...known, ...fresh]);
}

/** What is open after a group was opened or closed. */
export function toggled(opened: ReadonlySet<number>, { events, isOpen }: Group): ReadonlySet<number> {
  const own = new Set(events.map(({ seq }) => seq));
  return new Set(isOpen ? [...opened].filter((seq) => !own.has(seq)) : [...opened, ...own]);
}

export const keyOf = (row: Row | undefined) => row && ('record' in row ? row.record.seq : `group ${row.key}`);

/** Whether a row is an event, or a closed group with it. */
export const holds = (row: Row, seq: string | undefined) =>
  'record' in row ? String(row.record.seq) === seq : !row.isOpen && row.events.some((record) => String(record.seq) === seq);

/** The open group that an event is in. */
export const aroundOf = (rows: Row[], seq: string | undefined): Group | undefined =>
  rows.find((row): row is Group => 'key' in row && row.isOpen && row.events.some((record) => String(record.seq) === seq));

/** The row that comes after the one that is marked, or else the one with the open event; before it with `by` of -1. From no row on it is the first. */
export function stepped(rows: Row[], marked: ReturnType<typeof keyOf>, seq: string | undefined, by: 1 | -1): Row | undefined {
  const own = marked === undefined ? -1 : rows.findIndex((row) => keyOf(row) === marked);
  const at = own < 0 ? rows.findIndex((row) => holds(row, seq)) : own;
  return rows[Math.max(0, at + by)];
}

/** The server's own events from a place on, up to the first of somebody else. */
function runOf(events: EventRecord[], from: number): EventRecord[] {
  const end = events.findIndex(({ decision }, at) => at >= from && decision !== 'system');
  return events.slice(from, end < 0 ? undefined : end);
}
