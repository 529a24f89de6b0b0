import type { SearchHit } from '../../api';

/** Where what a search has found is shown, as the properties of a link. */
export function whereIs({ kind, collection, id }: Pick<SearchHit, 'kind' | 'collection' | 'id'>) {
  if (kind === 'knowledge') return { to: '/data', hash: id } as const;
  if (kind === 'task' || !collection) return { to: '/tasks/$id', params: { id } } as const;
  return { to: '/data/$collection/$id', params: { collection, id } } as const;
}
