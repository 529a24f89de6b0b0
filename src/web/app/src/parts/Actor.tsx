import { Go } from './Go';
import { createContext, useContext, useEffect, useEffectEvent, useMemo, type ReactNode } from 'react';
import { MOST } from '../ahead';
import { actorList, type Actor as Record } from '../api';
import { pagesOptions, useGuardedPages } from './guard';
import css from './parts.module.css';
import { Said } from './Said';

type Read = {
  all: Record[];
  byId: Map<string, Record>;
  shared: Set<string>;
  /** Whether there are more than were read. */
  isCut: boolean;
  error: unknown;
  isPending: boolean;
  refetch: () => unknown;
};

const Directory = createContext<Read>({ all: [], byId: new Map(), shared: new Set(), isCut: false, error: null, isPending: true, refetch: () => undefined });

/** So many are read at most: pages name them, find them and offer them as they are typed. */
const MOST_ACTORS = 20 * MOST;

export const actorsOptions = () => ({
  ...pagesOptions<Record>([{ _id: 'actorListPages' }], async (cursor) => {
    const { data, response } = await actorList({ query: { limit: MOST, cursor }, throwOnError: true });
    return { rows: data, next: response.headers.get('x-next-cursor') };
  }),
  staleTime: 60_000,
});

/** Reads the directory once for all who are named on a page: the newest at first, and then the others. */
export function WithActors({ children }: { children: ReactNode }) {
  const { data, error, isPending, refetch, more, hasMore } = useGuardedPages('actor.list', actorsOptions(), false);
  const count = data?.length ?? 0;
  const readOn = useEffectEvent(() => more());
  useEffect(() => {
    if (hasMore && count < MOST_ACTORS) readOn();
  }, [hasMore, count]);
  const read = useMemo(() => ({ all: data ?? [], byId: new Map((data ?? []).map((actor) => [actor.id, actor])), shared: sharedNames(data ?? []), isCut: hasMore, error, isPending, refetch }), [data, hasMore, error, isPending, refetch]);
  return <Directory value={read}>{children}</Directory>;
}

/** The directory, as far as it may be seen. */
export const useActors = () => useContext(Directory);

export const nameOf = (actor: Record | undefined, id: string) => actor?.name || id;

/** A name as it looks: without the difference between letters that are drawn alike, and spaces. */
const looksLike = (name: string) => name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();

/** The names, as they look, that more than one have, or that are another's id: alone, they do not say who is meant. */
export function sharedNames(actors: Pick<Record, 'id' | 'name'>[]): Set<string> {
  const whose = new Map([...actors.map(({ id }) => id), 'the server'].map((id) => [id, id]));
  const shared = new Set<string>();
  for (const { id, name } of actors) {
    const key = looksLike(name);
    if ((whose.get(key) ?? id) !== id) shared.add(key);
    whose.set(key, id);
  }
  return shared;
}

const named = ({ id, name }: Record) => (name && name !== id ? `${name} (${id})` : id);

/** Those who fit, as a list offers them: by name. */
export function offered(actors: Record[], fits: (actor: Record) => boolean, label = named): { value: string; label: string }[] {
  const choices = actors.filter(fits).map((actor) => ({ key: nameOf(actor, actor.id).toLowerCase(), value: actor.id, label: label(actor) }));
  return choices.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ value, label: text }) => ({ value, label: text }));
}

function initials(name: string): string {
  // A pattern of Unicode's classes takes long to make, and most names do without.
  const plain = /^[\w\s-]*$/.test(name) ? name : name.replace(/[^\p{L}\p{N}\s-]/gu, '');
  const words = plain.split(/[\s-]+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return letters.map((word) => Array.from(word ?? '')[0] ?? '').join('').toUpperCase() || '?';
}

function hue(id: string): number {
  let sum = 7;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 3600;
  return sum % 360;
}

export function Avatar({ id, actor, size }: { id: string; actor?: Record; size?: 'lg' }) {
  const kind = actor?.kind ?? (id.startsWith('team:') ? 'team' : 'person');
  const name = nameOf(actor, id.replace(/^team:/, ''));
  return (
    <span className={css.avatar} data-kind={kind} data-size={size} style={{ '--hue': hue(id) } as React.CSSProperties} aria-hidden="true">
      {initials(name)}
    </span>
  );
}

/** Somebody, by name, with a link to their page. A name is anybody's text: it is isolated from what stands around it. */
export function Actor({ id, plain = false, avatar = true }: { id: string; plain?: boolean; avatar?: boolean }) {
  const { byId, shared } = useActors();
  const actor = byId.get(id);
  const isShared = actor && shared.has(looksLike(actor.name));
  if (id === 'ok' || id === 'server') return <span className={css.actor}>the server</span>;
  const inside = (
    <>
      {avatar && <Avatar id={id} actor={actor} />}
      <Said title={id}>{isShared ? named(actor) : nameOf(actor, id)}</Said>
    </>
  );
  if (plain) return <span className={avatar ? css.actor : css.name}>{inside}</span>;
  return (
    <Go to="/people/$id" params={{ id }} className={css.actor}>
      {inside}
    </Go>
  );
}
