import { useEffect, useRef, type ReactNode } from 'react';
import css from './parts.module.css';
import { entitle } from './visible';

export function Page({ title, lead, actions, wide = false, children }: { title: string; lead?: ReactNode; actions?: ReactNode; wide?: boolean; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    entitle(title);
  }, [title]);
  return (
    <div className={css.page} data-wide={wide || undefined}>
      <header className={css.pageHead}>
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p>{lead}</p>}
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({ title, aside, children, flush = false }: { title?: ReactNode; aside?: ReactNode; children: ReactNode; flush?: boolean }) {
  return (
    <section className={css.card}>
      {title !== undefined && (
        <header className={css.cardHead}>
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {flush ? children : <div className={css.cardBody}>{children}</div>}
    </section>
  );
}

export function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className={css.facts}>
      {of.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export const Kbd = ({ children }: { children: ReactNode }) => <kbd className={css.kbd}>{children}</kbd>;

/** How much of something there is. */
export function Meter({ value, of, label }: { value: number; of: number; label: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 1;
  return (
    <div className={css.meter} role="progressbar" aria-label={label} aria-valuenow={Math.min(value, of)} aria-valuemin={0} aria-valuemax={of}>
      <i style={{ width: `${100 * share}%` }} />
    </div>
  );
}
