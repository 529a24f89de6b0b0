// What the signed-in person may do at all. A read that would be refused is not asked for: each refusal is an event.

import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery, type QueryKey, type UseQueryOptions } from '@tanstack/react-query';
import { useMemo } from 'react';
import { policyExplain, Refused, type AllExplained } from '../api';
import { useStopped } from '../stopped';

type Can = AllExplained['operations'][number];

/** Every operation, with what the gate would answer where it is about the company itself. */
export const cansOptions = () =>
  queryOptions({
    queryKey: [{ _id: 'policyExplainAll' }],
    queryFn: async () => {
      const { data } = await policyExplain({ body: {}, throwOnError: true });
      return new Map((data as AllExplained).operations.map((one) => [one.operation, one]));
    },
    staleTime: 60_000,
    retry: false,
  });

/** A refusal that nobody has to ask for: the gate has said that it would come. */
const refusal = (op: string, reason: string) => new Refused(403, 'denied', `policy denied ${op}: ${reason}`);

export function useCan(op: string): Can | undefined {
  const reason = useStopped();
  const can = useQuery(cansOptions()).data?.get(op);
  return reason === undefined ? can : { operation: op, decision: 'deny', reason };
}

/** A read that waits for the gate to say that it may be asked; where it may not, its reason stands in for an answer. */
export function useGuarded<T, E, D, K extends QueryKey>(op: string, options: UseQueryOptions<T, E, D, K>) {
  const can = useCan(op);
  const isDenied = can?.decision === 'deny';
  const read = useQuery<T, E, D, K>({ ...options, enabled: !!can && !isDenied && options.enabled !== false });
  if (!isDenied || read.data !== undefined) return read;
  return { ...read, data: undefined, isPending: false, error: refusal(op, can.reason) };
}

/** A page of a long list, and the cursor of the one after it. */
export type ListPage<T> = { rows: T[]; next: string | null };

export const pagesOptions = <T>(queryKey: QueryKey, page: (cursor: string | undefined) => Promise<ListPage<T>>) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => page(pageParam || undefined),
    initialPageParam: '',
    getNextPageParam: ({ next }: ListPage<T>) => next,
  });

type PagesOptions<T> = ReturnType<typeof pagesOptions<T>>;

/** A long list, read page by page as it is scrolled, once the gate says that it may be asked; `again`: after how many milliseconds
 *  anew, also by who may not follow the log. */
export function useGuardedPages<T>(op: string, options: PagesOptions<T>, again: number | false = 15_000) {
  const can = useCan(op);
  const isDenied = can?.decision === 'deny';
  const read = useInfiniteQuery({
    ...options,
    enabled: !!can && !isDenied,
    // Many pages are not.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : again),
  });
  const more = () => {
    if (read.hasNextPage && !read.isFetchingNextPage) void read.fetchNextPage();
  };
  const data = useMemo(() => read.data?.pages.flatMap(({ rows }) => rows), [read.data]);
  const error = isDenied && !data ? refusal(op, can.reason) : read.error;
  return { data, error, isPending: read.isPending && !isDenied, refetch: read.refetch, more, hasMore: read.hasNextPage };
}
