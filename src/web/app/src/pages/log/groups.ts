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

/** The server's own events from a place on, up to the first of somebody else. */
function runOf(events: EventRecord[], from: number): EventRecord[] {
  const end = events.findIndex(({ decision }, at) => at >= from && decision !== 'system');
  return events.slice(from, end < 0 ? undefined : end);
}
