// The log with its filters: what is in memory of it, the newest last.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { NEWEST } from '../../ahead';
import { eventList, type EventRecord } from '../../api';
import { useLive } from '../../live';
import { fieldsOf } from '../../parts/Sentence';
import type { LogSearch } from '../../router';

/** So many are read at once of what is before the newest. */
const PAGE = 1000;

const matches = (record: EventRecord, { type, actor, decision }: LogSearch) =>
  (!type || fieldsOf(record).type === type) && (!actor || record.actor === actor) && (!decision || record.decision === decision);

/** Whether it was done with a token, or to it. Of what it was asked for, the server knows, also where it was erased. */
const isOf = (token: string | undefined, record: EventRecord) => !token || record.token_id === token || fieldsOf(record).id === token;

/** What was read of before the newest page, for the filters that the server knows. `farFor`: the decision for which that was much, and found little. */
type Older = { key: string; older: EventRecord[]; from: number; farFor?: string };

const NOTHING: Older = { key: '', older: [], from: Infinity };

const asked = ({ type, actor, token }: LogSearch) => ({ ...(type ? { type: [type] } : {}), ...(actor ? { actor } : {}), ...(token ? { token_id: token } : {}) });

/** The newest page: asked for before the page that shows it is loaded. */
export const newestOptions = ({ type, actor, token }: LogSearch) =>
  queryOptions({
    queryKey: ['log', type, actor, token],
    queryFn: async () => (await eventList({ query: { limit: NEWEST, ...asked({ type, actor, token }) }, throwOnError: true })).data.events,
    staleTime: Infinity,
  });

/** At most so many pages back are looked through at once for what matches. */
const PAGES = 10;

/** So many more that match fill a view. */
const ENOUGH = 40;

/** Every event that matches, oldest first, read page after page; `told` gets how many there are so far. */
export async function everything(search: LogSearch, told: (count: number) => void): Promise<EventRecord[]> {
  const all: EventRecord[] = [];
  for (let since = 0; ; ) {
    const { events } = (await eventList({ query: { since, limit: PAGE, ...asked(search) }, throwOnError: true })).data;
    all.push(...events.filter((record) => matches(record, search)));
    told(all.length);
    const last = events.at(-1)?.seq;
    if (last === undefined || events.length < PAGE) return all;
    since = last;
  }
}

/** The newest page, what came after it, and what was read of before it. */
export function useLog(search: LogSearch) {
  const live = useLive();
  const { type, actor, token } = search;
  const newest = useQuery(newestOptions({ type, actor, token }));
  const key = `${type} ${actor} ${token}`;
  const [read, setRead] = useState(NOTHING);
  const [isReading, setReading] = useState(false);
  const isBusy = useRef(false);
  const { older, from, farFor } = read.key === key ? read : NOTHING;
  const decision = search.decision ?? '';
  /** Much was looked through, and little found: whether to go on is for who looks at it. */
  const isFar = farFor === decision;
  /** The oldest number that was looked at. A page that is not full reaches back to the first event. */
  const first = newest.data && newest.data.length < NEWEST ? 1 : Math.min(from, newest.data?.[0]?.seq ?? 1);

  const events = useMemo(() => {
    const known = newest.data ?? [];
    const last = known.at(-1)?.seq ?? 0;
    const fresh = newest.data ? live.events.filter((record) => record.seq > last && matches(record, { type, actor }) && isOf(token, record)) : [];
    return [...older, ...known, ...fresh].filter((record) => matches(record, search));
  }, [newest.data, older, live.events, type, actor, token, search]);

  /** Reads on backwards until there is a view of what matches, and as far as `until`: the route reads forwards, so a window before the oldest
   *  is asked for. Whether it did: one after the other. */
  const readOn = async (until = first) => {
    if (isBusy.current || first <= 1) return false;
    isBusy.current = true;
    setReading(true);
    let at = first;
    let all = older;
    let found = 0;
    const isDone = () => found >= ENOUGH && at <= until;
    try {
      for (let pages = 0; pages < PAGES && at > 1 && !isDone(); pages += 1) {
        const since = Math.max(0, at - 1 - PAGE);
        const { data } = await eventList({ query: { since, limit: PAGE, ...asked({ type, actor, token }) }, throwOnError: true });
        const page = data.events.filter(({ seq }) => seq < at);
        all = [...page, ...all];
        at = since + 1;
        found += page.filter((record) => matches(record, search)).length;
      }
    } finally {
      setRead({ key, older: all, from: at, farFor: isDone() ? undefined : decision });
      setReading(false);
      isBusy.current = false;
    }
    return true;
  };
  /** Reads on as a list is scrolled. */
  const before = async () => {
    if (!isFar) await readOn();
  };
  return { events, newest, before, readOn, isReading, isFar, first };
}
