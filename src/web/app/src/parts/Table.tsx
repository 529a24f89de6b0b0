import type { ReactNode } from 'react';
import css from './parts.module.css';

/** A table with the names of its columns; one that only holds buttons is named for those who do not see it. */
export function Table({ columns, children }: { columns: (string | { hidden: string })[]; children: ReactNode }) {
  return (
    <div className={css.scroll}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={typeof column === 'string' ? column : column.hidden} scope="col">
                {typeof column === 'string' ? column : <span className={css.vh}>{column.hidden}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
