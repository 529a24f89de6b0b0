// The log with its filters: what is in memory of it, the newest last.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { NEWEST } from '../../ahead';
import { eventList, type EventRecord } from '../../api';
import { useLive } from '../../live';
import { fieldsOf } from '../../parts/Sentence';
import type { LogSearch } from '../../router';

/** So many are read at once of what is before the newest. */
const PAGE = 1000;

const matches = (record: EventRecord, { type, actor, decision }: LogSearch) =>
  (!type || fieldsOf(record).type === type) && (!actor || record.actor === actor) && (!decision || record.decision === decision);

const NOTHING: { key: string; older: EventRecord[]; from: number } = { key: '', older: [], from: Infinity };

const asked = ({ type, actor }: LogSearch) => ({ ...(type ? { type: [type] } : {}), ...(actor ? { actor } : {}) });

/** The newest page: asked for before the page that shows it is loaded. */
export const newestOptions = ({ type, actor }: LogSearch) =>
  queryOptions({
    queryKey: ['log', type, actor],
    queryFn: async () => (await eventList({ query: { limit: NEWEST, ...asked({ type, actor }) }, throwOnError: true })).data.events,
    staleTime: Infinity,
  });

/** How many pages back are looked through at once for something that matches. */
const PAGES = 10;

/** The newest page, what came after it, and what was read of before it. */
export function useLog(search: LogSearch) {
  const live = useLive();
  const { type, actor } = search;
  const newest = useQuery(newestOptions({ type, actor }));
  const key = `${type} ${actor}`;
  const [read, setRead] = useState(NOTHING);
  const [isReading, setReading] = useState(false);
  const { older, from } = read.key === key ? read : NOTHING;
  /** The oldest number that was looked at. A page that is not full reaches back to the first event. */
  const first = newest.data && newest.data.length < NEWEST ? 1 : Math.min(from, newest.data?.[0]?.seq ?? 1);

  const events = useMemo(() => {
    const known = newest.data ?? [];
    const last = known.at(-1)?.seq ?? 0;
    const fresh = newest.data ? live.events.filter((record) => record.seq > last && matches(record, { type, actor })) : [];
    return [...older, ...known, ...fresh].filter((record) => matches(record, search));
  }, [newest.data, older, live.events, type, actor, search]);

  /** Reads on backwards until something matches: the route reads forwards, so a window before the oldest is asked for. */
  const before = async () => {
    if (isReading || first <= 1) return;
    setReading(true);
    let at = first;
    let all = older;
    try {
      for (let pages = 0; pages < PAGES && at > 1; pages += 1) {
        const since = Math.max(0, at - 1 - PAGE);
        const { data } = await eventList({ query: { since, limit: PAGE, ...asked({ type, actor }) }, throwOnError: true });
        const page = data.events.filter(({ seq }) => seq < at);
        all = [...page, ...all];
        at = since + 1;
        if (page.some((record) => matches(record, search))) break;
      }
    } finally {
      setRead({ key, older: all, from: at });
      setReading(false);
    }
  };
  return { events, newest, before, isReading, first };
}
