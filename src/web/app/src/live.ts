// What happens, as it happens: the log is read on every two seconds, and what an event touches is asked for anew.

import type { QueryKey } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { LIVE } from './ahead';
import { serverIsThere } from './there';
import { eventList, queries, Refused, Unreachable, type EventRecord } from './api';

const EVERY_MS = 2_000;
const KEPT = 500;

/** By the beginning of an event's type: the reads that it makes stale, by the beginning of their names. */
const TOUCHES: [RegExp, string[]][] = [
  [/^(approval_|arguments_kept)/, ['approval', 'inbox']],
  [/^kill_switch/, ['kill', 'actorRead', 'meAgents', 'policyExplain', 'run', 'trace', 'inbox']],
  [/^(change_|evals_|canary_|policy_|blueprint_)/, ['change', 'policy', 'inbox', 'view']],
  [/^(actor_|trust_|role_|team_|owner_|lead_)/, ['actor', 'me', 'inbox', 'policyExplain']],
  [/^token_/, ['token', 'inbox']],
  [/^(delegation_|budget_)/, ['delegation']],
  [/^(webhook_|delivery_)/, ['webhook']],
  [/^company_/, ['company']],
  [/^(task_|run_|step_)/, ['task', 'run', 'trace', 'inbox', 'eventList']],
  [/^break_glass_/, ['breakGlass', 'inbox']],
  [/^inbox_/, ['inbox']],
  [/^knowledge_/, ['knowledge', 'inbox', 'search']],
  [/^document_/, ['knowledge', 'search']],
  [/^context_forgotten/, ['approval', 'task', 'run', 'trace', 'knowledge', 'record', 'search', 'eventList']],
  [/^history_removed/, ['record']],
  [/^(record_|schema_|content_)/, ['collection', 'record', 'schema', 'search', 'flag', 'view']],
];

/**
 * What others do is not always told: the log shows an event to those whom it is about, and a record or a switch to those who may see it. That
 * something has happened is seen by the number of the newest event; then these are asked for anew, at most every so often.
 */
const UNSEEN = ['kill', 'collection', 'record', 'view'];
const UNSEEN_EVERY_MS = 5_000;

export type Live = { state: 'starting' | 'live' | 'lost' | 'refused'; lastSeq: number; events: EventRecord[] };

let live: Live = { state: 'starting', lastSeq: 0, events: [] };
const listeners = new Set<() => void>();

function set(next: Partial<Live>) {
  live = { ...live, ...next };
  for (const listener of listeners) listener();
}

export function touched(type: string): string[] {
  return TOUCHES.filter(([begins]) => begins.test(type)).flatMap(([, reads]) => reads);
}

const typeOf = ({ event }: EventRecord) => String((event as { type?: string }).type ?? '');

/** Asks anew for what begins with these names, as far as it is looked at. */
export function askAnew(names: Iterable<string>) {
  const stale = new Set(names);
  if (stale.size === 0) return;
  const predicate = ({ queryKey }: { queryKey: QueryKey }) => {
    const id = (queryKey[0] as { _id?: string } | undefined)?._id ?? '';
    return [...stale].some((begins) => id.startsWith(begins));
  };
  // What is read for the first time may have been answered before this happened: it is asked for anew once it is there.
  const first = queries.getQueryCache().findAll({ predicate, fetchStatus: 'fetching' }).filter(({ state }) => state.data === undefined);
  for (const { promise, queryKey } of first) void promise?.catch(() => undefined).then(() => queries.invalidateQueries({ queryKey, exact: true }));
  void queries.invalidateQueries({ predicate });
}

/** The server's clock tells whole seconds. */
const SECOND = 1_000;

/** Of the newest events: those since `began`, in milliseconds before the server said `date`. What was read since may be older. */
export function happenedSince(events: EventRecord[], date: string | null, began: number): EventRecord[] {
  const now = Date.parse(date ?? '');
  return Number.isNaN(now) ? events : events.filter(({ at }) => Date.parse(at) >= now - began - SECOND);
}

/** Whether more has happened than was told, and since when that has been asked for. */
let isUnseen = false;
let unseenAsked = 0;

function askUnseen() {
  if (!isUnseen || Date.now() - unseenAsked < UNSEEN_EVERY_MS) return;
  isUnseen = false;
  unseenAsked = Date.now();
  askAnew(UNSEEN);
}

let reading: Promise<void> | undefined;

/** Reads what is new; at first the newest. Who asks meanwhile waits for the same. */
export const poll = () => (reading ??= read().finally(() => (reading = undefined)));

async function read() {
  const first = live.lastSeq === 0;
  const { data, response } = await eventList({ query: first ? { limit: LIVE } : { since: live.lastSeq, limit: 500 }, throwOnError: true });
  const wasLost = live.state === 'lost';
  const newest = data.events.at(-1)?.seq ?? live.lastSeq;
  // A page that is full may have more behind it; then it is read on from its end.
  const lastSeq = data.events.length >= 500 ? newest : Math.max(data.last_seq, newest);
  isUnseen ||= !first && lastSeq - live.lastSeq > data.events.length;
  // A log that is shorter than before is another company's, or an older copy of this one.
  const isOther = data.last_seq < live.lastSeq;
  set({ state: 'live', lastSeq: isOther ? 0 : lastSeq, events: isOther ? [] : [...live.events, ...data.events].slice(-KEPT) });
  const news = first ? happenedSince(data.events, response.headers.get('date'), Date.now() - performance.timeOrigin) : data.events;
  // More may have happened than was read.
  const isCut = first && news.length === LIVE;
  if (wasLost || isOther || isCut) void queries.invalidateQueries();
  else askAnew(news.flatMap((record) => touched(typeOf(record))));
  askUnseen();
}

/** Follows the log while somebody is signed in, may read it, and looks at the page. */
export function useFollowing(may: boolean | undefined) {
  useEffect(() => {
    if (may === false) set({ state: 'refused' });
    if (!may) return;
    let timer: ReturnType<typeof setTimeout>;
    let stopped = false;
    const again = async () => {
      let wait = EVERY_MS;
      if (document.visibilityState === 'visible') {
        try {
          await poll();
        } catch (error) {
          if (error instanceof Unreachable) set({ state: 'lost' });
          else if (error instanceof Refused) {
            if (error.status === 403) {
              set({ state: 'refused' });
              // What may be read is another matter by now.
              askAnew(['policyExplainAll']);
            }
            wait = Math.max(EVERY_MS, (error.retryAfter ?? 5) * 1000);
          }
        }
      }
      if (!stopped) timer = setTimeout(() => void again(), wait);
    };
    // A page that began with the newest events has them.
    if (live.state === 'live') timer = setTimeout(() => void again(), EVERY_MS);
    else void again();
    return () => {
      stopped = true;
      clearTimeout(timer);
      live = { state: 'starting', lastSeq: 0, events: [] };
    };
  }, [may]);
}

/** A part of the program: while the server is known to be gone, the page that is open stays, and the part is asked for when it is back. */
export async function onceThere<T>(load: () => Promise<T>): Promise<T> {
  if (live.state === 'lost') await serverIsThere();
  return load();
}

export function useLive(): Live {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => live,
  );
}
