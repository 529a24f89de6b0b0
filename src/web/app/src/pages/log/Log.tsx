import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { Empty, Shown } from '../../parts/states';
import type { LogSearch } from '../../router';
import { isTyping } from '../../shell/typing';
import { DECISIONS } from './decisions';
import { Filters } from './Filters';
import css from './log.module.css';
import { Earlier, Rows } from './Rows';
import { useLog } from './useLog';
import { entitle } from '../../parts/visible';

export function Log() {
  const search = useSearch({ from: '/log' });
  const { seq } = useParams({ strict: false });
  const log = useLog(search);
  const newestFirst = useMemo(() => [...log.events].reverse(), [log.events]);
  useClosing(seq, search);
  useReaching(log, Number(seq));
  useEffect(() => {
    if (!seq) entitle('Log');
  }, [seq]);
  return (
    <div className={css.split} data-split data-open={seq ? '' : undefined}>
      <section className={css.list} aria-label="Events">
        <header className={css.head}>
          {seq ? <h2 style={{ fontSize: 'var(--t-xl)', marginRight: 'auto' }}>Log</h2> : <h1>Log</h1>}
          <div className={css.filters}>
            <Filters search={search} events={newestFirst} />
          </div>
        </header>
        <Shown read={log.newest} rows={10}>
          {() => (newestFirst.length === 0 ? <None key={JSON.stringify(search)} log={log} decision={search.decision} /> : <Rows events={newestFirst} seq={seq} search={search} log={log} />)}
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

/** The server filters by type and actor, the browser by decision: further back there may be what was not among the newest, so the log is
 * read on by itself. */
function None({ log, decision }: { log: ReturnType<typeof useLog>; decision?: string }) {
  const isUnknown = !!decision && !DECISIONS.some(({ value }) => value === decision);
  const readOn = useEffectEvent(() => {
    if (!isUnknown) void log.before();
  });
  useEffect(() => readOn(), []);
  if (isUnknown) {
    return <Empty icon="log" title={`There is no decision «${decision}»`}>The filter above names those that there are.</Empty>;
  }
  if (log.first <= 1) return <Empty icon="log" title="No such events">Nothing that you may see matches these filters.</Empty>;
  return (
    <Empty icon="log" title={`None since event ${log.first}`} action={<Earlier log={log} />}>
      There may be some further back.
    </Empty>
  );
}

/** An event that was opened by its number is read back to, as far as that is not too far. */
function useReaching(log: ReturnType<typeof useLog>, seq: number) {
  const isBefore = log.newest.data !== undefined && seq > 0 && seq < log.first;
  const reached = useRef<number>(undefined);
  const reach = useEffectEvent(async () => {
    if (await log.readOn(seq)) reached.current = seq;
  });
  useEffect(() => {
    if (isBefore && !log.isReading && reached.current !== seq) void reach();
  }, [isBefore, log.isReading, seq]);
}

function useClosing(seq: string | undefined, search: LogSearch) {
  const navigate = useNavigate();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && seq && !isTyping(event)) void navigate({ to: '/log', search });
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [seq, search, navigate]);
}
