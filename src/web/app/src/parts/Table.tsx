import type { ReactNode } from 'react';
import css from './parts.module.css';

/** A column: its name; one that only holds buttons is named for those who do not see it, and one that sorts says how. */
export type Column = string | { hidden: string } | { name: string; head: ReactNode; sort: 'ascending' | 'descending' | 'none' };

/** A table with the names of its columns. With `cards`, a row is a card on a phone: a cell says what it is by its `data-label`. */
export function Table({ columns, cards = false, children }: { columns: Column[]; cards?: boolean; children: ReactNode }) {
  return (
    <div className={css.scroll} data-cards={cards || undefined}>
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
