import { startTransition, useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type CSSProperties, type ReactNode, type RefObject } from 'react';

/** So many rows before the end the next ones are asked for. */
const AHEAD = 30;
/** So many rows are drawn before and after those that are seen. */
const AROUND = 10;

/** Rows from `first` to before `end`. */
type Range = { first: number; end: number };

/** Of `count` rows of one height in an element that scrolls: which to draw, and how high all are. `more` is called near their end. */
export function useSeen(scroll: RefObject<HTMLElement | null>, count: number, height: number, more?: () => void) {
  // Asking an element how high it is makes the browser lay out the page at once. Until it has by itself, as many rows are drawn
  // as fit into the window at most.
  const [seen, setSeen] = useState<Range>(() => ({ first: 0, end: Math.ceil(window.innerHeight / height) }));
  useEffect(() => {
    const element = scroll.current;
    if (!element) return;
    const look = () => {
      const first = Math.floor(element.scrollTop / height);
      const end = Math.ceil((element.scrollTop + element.clientHeight) / height);
      const next = { first: Math.max(0, first - AROUND), end: end + AROUND };
      setSeen((before) => (before.first === next.first && before.end === next.end ? before : next));
    };
    element.addEventListener('scroll', look, { passive: true });
    // What is around those that are seen can wait for whatever somebody does meanwhile.
    const sizes = new ResizeObserver(() => startTransition(look));
    sizes.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      sizes.disconnect();
    };
  }, [scroll, height]);
  // Rows of another height: the same ones stay in sight.
  const former = useRef(height);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element && former.current !== height) element.scrollTo({ top: (element.scrollTop * height) / former.current, behavior: 'instant' });
    former.current = height;
  }, [scroll, height]);
  const end = Math.min(seen.end, count);
  const readOn = useEffectEvent(() => more?.());
  useEffect(() => {
    if (end + AHEAD >= count) readOn();
  }, [end, count]);
  const first = Math.min(seen.first, end);
  return { indexes: Array.from({ length: end - first }, (_, at) => first + at), total: count * height };
}

type Key = string | number | undefined;

/** Whoever has scrolled down goes on looking at the same rows when others come and go above them. */
export function useStillness<T>(scroll: RefObject<HTMLElement | null>, list: T[], keyOf: (row: T | undefined) => Key, height: number) {
  const before = useRef(list);
  const stay = useEffectEvent((old: T[], element: HTMLElement) => {
    const at = Math.floor(element.scrollTop / height);
    const key = at > 0 ? keyOf(old[at]) : undefined;
    const now = key === undefined ? -1 : list.findIndex((row) => keyOf(row) === key);
    if (now >= 0 && now !== at) element.scrollBy({ top: (now - at) * height, behavior: 'instant' });
  });
  useLayoutEffect(() => {
    const old = before.current;
    before.current = list;
    if (old !== list && scroll.current) stay(old, scroll.current);
  }, [scroll, list]);
}

/** The row that is open comes into sight when it becomes another, as by a key, and when it has been read; from afar with what is around it. `at`: which it is, negative for none. */
export function useInSight(scroll: RefObject<HTMLElement | null>, active: Key, at: number, height: number) {
  const reach = useEffectEvent((element: HTMLElement) => {
    const { scrollTop, clientHeight } = element;
    if (at < 0 || clientHeight === 0) return;
    const isFar = Math.abs(at * height - scrollTop) > 2 * clientHeight;
    if (isFar) element.scrollTo({ top: at * height - clientHeight / 2, behavior: 'instant' });
    else if (at * height < scrollTop) element.scrollTo({ top: at * height, behavior: 'instant' });
    else if ((at + 1) * height > scrollTop + clientHeight) element.scrollTo({ top: (at + 1) * height - clientHeight, behavior: 'instant' });
  });
  const isThere = at >= 0;
  useEffect(() => {
    const element = scroll.current;
    if (active === undefined || !isThere || !element) return;
    // How an element stands is asked once the browser has laid out the page by itself, before it is drawn.
    const laidOut = new ResizeObserver(() => {
      laidOut.disconnect();
      reach(element);
    });
    laidOut.observe(element);
    return () => laidOut.disconnect();
  }, [scroll, active, isThere]);
}

/** What is as high as all rows: at once, or what scrolls could not be scrolled there yet. */
export const heldOpen = (total: number): CSSProperties => ({ height: total, position: 'relative', transitionProperty: 'none' });

type Rows<T> = { list: T[]; height: number; active?: string; className?: string; more?: () => void; children: (row: T, style: CSSProperties) => ReactNode };

const idOf = (row: { id: string } | undefined) => row?.id;

/** A long list of rows of one height, drawn as far as it is seen. Each row is given where it stands; `more` is called near the end.
 *  A list of other things, such as what was searched for, has another `key`, and begins at its top. */
export function VirtualRows<T extends { id: string }>({ list, height, active, className, more, children }: Rows<T>) {
  const scroll = useRef<HTMLDivElement>(null);
  useStillness(scroll, list, idOf, height);
  useInSight(scroll, active, active === undefined ? -1 : list.findIndex(({ id }) => id === active), height);
  const { indexes, total } = useSeen(scroll, list.length, height, more);
  return (
    <div ref={scroll} className={className}>
      <div style={heldOpen(total)}>
        {indexes.map((index) => {
          const row = list[index];
          return row === undefined ? null : children(row, { position: 'absolute', left: 0, width: '100%', height, top: index * height });
        })}
      </div>
    </div>
  );
}
