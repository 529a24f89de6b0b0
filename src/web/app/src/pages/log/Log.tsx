import { Button } from '@mantine/core';
import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useRef } from 'react';
import type { EventRecord } from '../../api';
import { Icon, type IconName } from '../../parts/icons';
import { fieldsOf, Sentence } from '../../parts/Sentence';
import { Empty, Shown } from '../../parts/states';
import { When } from '../../parts/When';
import type { LogSearch } from '../../router';
import { isTyping } from '../../shell/typing';
import css from './log.module.css';
import { useLog } from './useLog';
import { useMediaQuery } from '@mantine/hooks';

// The rows do not wait for what filters them.
const Filters = lazy(() => import('./Filters'));

const SIGNS: Record<string, IconName> = { allow: 'check', deny: 'x', needs_approval: 'clock', system: 'settings' };

export function Log() {
  const search = useSearch({ from: '/log' });
  const { seq } = useParams({ strict: false });
  const log = useLog(search);
  const newestFirst = useMemo(() => [...log.events].reverse(), [log.events]);
  useStepping(newestFirst, seq, search);
  useEffect(() => {
    if (!seq) document.title = 'Log · ok';
  }, [seq]);
  return (
    <div className={css.split} data-split data-open={seq ? '' : undefined}>
      <section className={css.list} aria-label="Events">
        <header className={css.head}>
          {seq ? <h2 style={{ fontSize: 'var(--t-xl)', marginRight: 'auto' }}>Log</h2> : <h1>Log</h1>}
          <div className={css.filters}>
            <Suspense>
              <Filters search={search} events={newestFirst} />
            </Suspense>
          </div>
        </header>
        <Shown read={log.newest} rows={10}>
          {() => (newestFirst.length === 0 ? <None log={log} /> : <Rows events={newestFirst} seq={seq} search={search} end={log} />)}
        </Shown>
      </section>
      {seq && (
        <aside className={css.side} aria-label="One event">
          <Outlet />
        </aside>
      )}
    </div>
  );
}

/** The server filters by type and actor, the browser by decision: further back there may be what was not among the newest. */
function None({ log }: { log: ReturnType<typeof useLog> }) {
  if (log.first <= 1) return <Empty icon="log" title="No such events">Nothing that you may see matches these filters.</Empty>;
  return (
    <Empty icon="log" title={`None since event ${log.first.toLocaleString()}`} action={<Earlier log={log} />}>
      There may be some further back.
    </Empty>
  );
}

function Earlier({ log }: { log: ReturnType<typeof useLog> }) {
  return (
    <Button variant="default" loading={log.isReading} onClick={() => void log.before()}>
      Read earlier events
    </Button>
  );
}

/** So many rows before the end the earlier ones are read. */
const AHEAD = 30;

function Rows({ events, seq, search, end }: { events: EventRecord[]; seq?: string; search: LogSearch; end: ReturnType<typeof useLog> }) {
  const scroll = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const isSmall = useMediaQuery('(max-width: 767px)');
  const rows = useVirtualizer({ count: events.length, getScrollElement: () => scroll.current, estimateSize: () => (isSmall ? 64 : 40), overscan: 12 });
  useEffect(() => rows.measure(), [isSmall, rows]);
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  const readOn = useEffectEvent(() => void end.before());
  useEffect(() => {
    if (last + AHEAD >= events.length) readOn();
  }, [last, events.length]);
  return (
    <div ref={scroll} className={css.scroll}>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const record = events[index];
          if (!record) return null;
          const to = { to: '/log/$seq' as const, params: { seq: String(record.seq) }, search };
          return (
            // The number is the link; the row is only a larger target for a mouse.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
            <div key={record.seq} className={css.row} style={{ top: start }} data-active={seq === String(record.seq) || undefined} onClick={() => void navigate(to)}>
              <Link {...to}>{record.seq}</Link>
              <When at={record.at} as="stamp" />
              <span className={css.sign} data-tone={record.decision}>
                <Icon name={SIGNS[record.decision] ?? 'log'} size={14} strokeWidth={2.4} />
              </span>
              <Sentence record={record} />
              <code>{fieldsOf(record).type}</code>
            </div>
          );
        })}
      </div>
      {end.first > 1 && (
        <div style={{ display: 'grid', placeItems: 'center', padding: 16 }}>
          <Earlier log={end} />
        </div>
      )}
    </div>
  );
}

function useStepping(events: EventRecord[], seq: string | undefined, search: LogSearch) {
  const navigate = useNavigate();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === 'Escape' && seq) return void navigate({ to: '/log', search });
      if (event.key !== 'j' && event.key !== 'k') return;
      const at = events.findIndex((record) => String(record.seq) === seq);
      const next = events[event.key === 'j' ? at + 1 : Math.max(0, at - 1)];
      if (next) void navigate({ to: '/log/$seq', params: { seq: String(next.seq) }, search });
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [events, seq, search, navigate]);
}
