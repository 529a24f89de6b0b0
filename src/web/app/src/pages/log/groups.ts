// What the server does by itself comes in crowds: many events in a row stand as one, which opens.

import type { EventRecord } from '../../api';

export type Group = { key: number; events: EventRecord[]; isOpen: boolean };
export type Row = { record: EventRecord } | Group;

/** Fewer in a row are not worth hiding. */
const LEAST = 3;

/** The rows of a list of events, the newest first. A group is known by its oldest event: it grows at the other end. */
export function rowsOf(events: EventRecord[], opened: ReadonlySet<number>): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < events.length; ) {
    const own = runOf(events, at);
    const oldest = own.at(-1);
    if (!oldest || own.length < LEAST) {
      rows.push(...events.slice(at, at + Math.max(1, own.length)).map((record) => ({ record })));
    } else {
      const isOpen = opened.has(oldest.seq);
      rows.push({ key: oldest.seq, events: own, isOpen }, ...(isOpen ? own.map((record) => ({ record })) : []));
    }
    at += Math.max(1, own.length);
  }
  return rows;
}

/** The server's own events from a place on, up to the first of somebody else. */
function runOf(events: EventRecord[], from: number): EventRecord[] {
  const end = events.findIndex(({ decision }, at) => at >= from && decision !== 'system');
  return events.slice(from, end < 0 ? undefined : end);
}
