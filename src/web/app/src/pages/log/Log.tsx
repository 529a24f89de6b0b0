import { ActionIcon, Button, Menu, Select } from '@mantine/core';
import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import type { EventRecord } from '../../api';
import { useActors } from '../../parts/Actor';
import { Icon, type IconName } from '../../parts/icons';
import { fieldsOf, Sentence, TYPES } from '../../parts/Sentence';
import { Empty, Shown } from '../../parts/states';
import { When } from '../../parts/When';
import type { LogSearch } from '../../router';
import { isTyping } from '../../shell/typing';
import css from './log.module.css';
import { useLog } from './useLog';
import { useMediaQuery } from '@mantine/hooks';

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
          <Filters search={search} events={newestFirst} />
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

function Filters({ search, events }: { search: LogSearch; events: EventRecord[] }) {
  const navigate = useNavigate();
  const { all } = useActors();
  const set = (next: Partial<LogSearch>) => void navigate({ to: '.', search: (before: LogSearch) => ({ ...before, ...next }) as never });
  const people = useMemo(() => all.filter(({ kind }) => kind !== 'team').map(({ id, name }) => ({ value: id, label: name ? `${name} (${id})` : id })), [all]);
  return (
    <div className={css.filters}>
      <Select placeholder="Any decision" aria-label="decision" clearable value={search.decision ?? null} onChange={(decision) => set({ decision: decision ?? undefined })} data={[{ value: 'allow', label: 'allowed' }, { value: 'needs_approval', label: 'needs approval' }, { value: 'deny', label: 'denied' }, { value: 'system', label: 'by the server' }]} />
      <Select placeholder="Anybody" aria-label="actor" clearable searchable limit={50} value={search.actor ?? null} onChange={(actor) => set({ actor: actor ?? undefined })} data={people} />
      <Select placeholder="Any type" aria-label="type of event" clearable searchable value={search.type ?? null} onChange={(type) => set({ type: type ?? undefined })} data={TYPES} />
      <Export events={events} />
    </div>
  );
}

/** What is listed, as a file. A whole log with its proofs is exported on the machine of the server. */
function Export({ events }: { events: EventRecord[] }) {
  const save = (name: string, text: string, type: string) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = Object.assign(document.createElement('a'), { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  const lines = () => events.toReversed().map((record) => JSON.stringify(record));
  return (
    <div style={{ width: 'auto', flex: 'none' }}>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="Export">
            <Icon name="download" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>The {events.length.toLocaleString()} events listed</Menu.Label>
          <Menu.Item onClick={() => save('events.jsonl', `${lines().join('\n')}\n`, 'application/x-ndjson')}>JSON, one a line</Menu.Item>
          <Menu.Divider />
          <Menu.Label>
            With proofs, for an auditor: <code>ok audit export DIR</code>
          </Menu.Label>
        </Menu.Dropdown>
      </Menu>
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

function Rows({ events, seq, search, end }: { events: EventRecord[]; seq?: string; search: LogSearch; end: ReturnType<typeof useLog> }) {
  const scroll = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const isSmall = useMediaQuery('(max-width: 767px)');
  const rows = useVirtualizer({ count: events.length, getScrollElement: () => scroll.current, estimateSize: () => (isSmall ? 64 : 40), overscan: 12 });
  useEffect(() => rows.measure(), [isSmall, rows]);
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
