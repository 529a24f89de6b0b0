import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type CSSProperties, type ReactNode } from 'react';

/** A long list of rows of one height, drawn as far as it is seen. Each row is given where it stands. */
export function VirtualRows<T>({ list, height, className, children }: { list: T[]; height: number; className?: string; children: (row: T, style: CSSProperties) => ReactNode }) {
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: list.length, getScrollElement: () => scroll.current, estimateSize: () => height, overscan: 10 });
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
