import { useEffect, useEffectEvent, useRef, useState, type CSSProperties, type ReactNode, type RefObject } from 'react';

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
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      sizes.disconnect();
    };
  }, [scroll, height]);
  const end = Math.min(seen.end, count);
  const readOn = useEffectEvent(() => more?.());
  useEffect(() => {
    if (end + AHEAD >= count) readOn();
  }, [end, count]);
  const first = Math.min(seen.first, end);
  return { indexes: Array.from({ length: end - first }, (_, at) => first + at), total: count * height };
}

/** A long list of rows of one height, drawn as far as it is seen. Each row is given where it stands; `more` is called near the end. */
export function VirtualRows<T>({ list, height, className, more, children }: { list: T[]; height: number; className?: string; more?: () => void; children: (row: T, style: CSSProperties) => ReactNode }) {
  const scroll = useRef<HTMLDivElement>(null);
  const { indexes, total } = useSeen(scroll, list.length, height, more);
  return (
    <div ref={scroll} className={className}>
      <div style={{ height: total, position: 'relative' }}>
        {indexes.map((index) => {
          const row = list[index];
          return row === undefined ? null : children(row, { position: 'absolute', left: 0, width: '100%', height, top: index * height });
        })}
      </div>
    </div>
  );
}
