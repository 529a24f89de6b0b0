import { useSyncExternalStore } from 'react';
import { ago, exact, stamp } from './time';

let now = new Date();
const listeners = new Set<() => void>();
setInterval(() => {
  now = new Date();
  for (const listener of listeners) listener();
}, 15_000);

export function useNow(): Date {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
  );
}

/** A time: how long ago, or as a stamp; the exact one on hover. `ahead`: one that is to come. */
export function When({ at, as = 'ago', ahead = false }: { at: string | null | undefined; as?: 'ago' | 'stamp'; ahead?: boolean }) {
  const current = useNow();
  if (!at) return <span>–</span>;
  const time = new Date(at);
  // An event of this very second must not lie in the future.
  const base = !ahead && time > current && time.getTime() - current.getTime() < 20_000 ? time : current;
  return (
    // The tip is of the browser's own making, and written when somebody points there: a list has hundreds of them.
    <time dateTime={at} onPointerEnter={({ currentTarget }) => (currentTarget.title = exact(time))}>
      {as === 'ago' ? ago(time, base) : stamp(time, current)}
    </time>
  );
}

const EXACT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the server's, with its times as this page shows times. */
export function Timed({ children }: { children: string }) {
  return children.split(EXACT).map((part, at) => (at % 2 === 1 ? <When key={part} at={part} as="stamp" /> : part));
}
