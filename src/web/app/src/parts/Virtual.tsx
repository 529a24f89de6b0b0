import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type CSSProperties, type ReactNode } from 'react';

/** So many rows before the end the next ones are asked for. */
const AHEAD = 30;

/** A long list of rows of one height, drawn as far as it is seen. Each row is given where it stands; `more` is called near the end. */
export function VirtualRows<T>({ list, height, className, more, children }: { list: T[]; height: number; className?: string; more?: () => void; children: (row: T, style: CSSProperties) => ReactNode }) {
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: list.length, getScrollElement: () => scroll.current, estimateSize: () => height, overscan: 10 });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (last + AHEAD >= list.length) more?.();
  }, [last, list.length, more]);
  return (
    <div ref={scroll} className={className}>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const row = list[index];
          return row === undefined ? null : children(row, { position: 'absolute', left: 0, width: '100%', height, top: start });
        })}
      </div>
    </div>
  );
}
