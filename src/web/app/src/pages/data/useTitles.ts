import { useQueries } from '@tanstack/react-query';
import { createContext } from 'react';
import { collectionQuery, collectionReadOptions, type ShownCollection, type ShownRecord } from '../../api';
import { titleOf } from './title';

/** By id: what people call the records that those of a list refer to, as far as they may be read. */
export const Titles = createContext<ReadonlyMap<string, string>>(new Map());

/** Asks for all that a list refers to at once: a record that may not be read is no answer, and no refusal either. */
export function useTitles(of: ShownCollection, list: ShownRecord[]): ReadonlyMap<string, string> {
  const targets = [...new Set(Object.values(of.fields).flatMap(({ type, to }) => (type === 'ref' && to ? [to] : [])))];
  const idsIn = (target: string) => {
    const names = Object.entries(of.fields).filter(([, { type, to }]) => type === 'ref' && to === target).map(([name]) => name);
    const ids = list.flatMap(({ fields }) => names.map((name) => fields[name])).filter((id) => typeof id === 'string');
    return [...new Set(ids)].sort();
  };
  const collections = useQueries({ queries: targets.map((collection) => ({ ...collectionReadOptions({ path: { collection } }), retry: false, staleTime: 60_000 })) });
  const records = useQueries({
    queries: targets.map((collection, at) => {
      const [key, ids] = [collections[at]?.data?.key, idsIn(collection)];
      const body = { filter: { id: { in: ids } }, fields: key, limit: ids.length };
      return {
        queryKey: [{ _id: 'collectionQuery', collection, body }],
        queryFn: async () => (await collectionQuery({ path: { collection }, body, throwOnError: true })).data as ShownRecord[],
        enabled: !!key && ids.length > 0,
        retry: false,
        staleTime: 30_000,
      };
    }),
  });
  return new Map(records.flatMap(({ data }, at) => (data ?? []).map((record): [string, string] => [record.id, titleOf(record, collections[at]?.data)])));
}
