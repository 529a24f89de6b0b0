import { useEffect, useRef, type CSSProperties, type ReactNode } from 'react';
import { useRows } from './useRows';

/** So many rows before the end the next ones are asked for. */
const AHEAD = 30;

/** A long list of rows of one height, drawn as far as it is seen. Each row is given where it stands; `more` is called near the end. */
export function VirtualRows<T>({ list, height, className, more, children }: { list: T[]; height: number; className?: string; more?: () => void; children: (row: T, style: CSSProperties) => ReactNode }) {
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useRows(scroll, list.length, height);
  const last = rows.at(-1) ?? 0;
  useEffect(() => {
    if (last + AHEAD >= list.length) more?.();
  }, [last, list.length, more]);
  return (
    <div ref={scroll} className={className}>
      <div style={{ height: list.length * height, position: 'relative' }}>
        {rows.map((index) => {
          const row = list[index];
          return row === undefined ? null : children(row, { position: 'absolute', left: 0, width: '100%', height, top: index * height });
        })}
      </div>
    </div>
  );
}
