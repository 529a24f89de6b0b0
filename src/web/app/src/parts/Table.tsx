import { useEffect, useRef, useState, type ReactNode } from 'react';
import css from './parts.module.css';

/** A column: its name; one that only holds buttons is named for those who do not see it, and one that sorts says how. */
export type Column = string | { hidden: string } | { name: string; head: ReactNode; sort: 'ascending' | 'descending' | 'none' };

/** A table with the names of its columns. With `cards`, a row is a card on a phone: a cell says what it is by its `data-label`. */
export function Table({ columns, cards = false, children }: { columns: Column[]; cards?: boolean; children: ReactNode }) {
  const { scroll, isWide } = useWide();
  return (
    <div ref={scroll} className={css.scroll} data-cards={cards || undefined} {...(isWide ? { tabIndex: 0, role: 'group', 'aria-label': 'table, scrolls sideways' } : {})}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={typeof column === 'string' ? column : 'hidden' in column ? column.hidden : column.name} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Whether a table is wider than its place: then it is scrolled, by keys too. */
function useWide() {
  const scroll = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = scroll.current;
    if (!element) return undefined;
    const sizes = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth));
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { scroll, isWide };
}

function Head({ column }: { column: Column }) {
  if (typeof column === 'string') return <th scope="col">{column}</th>;
  if ('hidden' in column) {
    return (
      <th scope="col">
        <span className={css.vh}>{column.hidden}</span>
      </th>
    );
  }
  return (
    <th scope="col" aria-sort={column.sort}>
      {column.head}
    </th>
  );
}
