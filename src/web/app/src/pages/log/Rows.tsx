import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent as Pressed, type RefObject } from 'react';
import type { EventRecord } from '../../api';
import { Go } from '../../parts/Go';
import { Icon, type IconName } from '../../parts/icons';
import { grouped } from '../../parts/plain';
import { fieldsOf, Sentence } from '../../parts/Sentence';
import { heldOpen, useInSight, useSeen, useStillness } from '../../parts/Virtual';
import { When } from '../../parts/When';
import type { LogSearch } from '../../router';
import { isTyping } from '../../shell/typing';
import { aroundOf, holds, keyOf, keysOf, rowsOf, stepped, toggled, type Group, type Row } from './groups';
import css from './log.module.css';
import type { useLog } from './useLog';

const SIGNS: Record<string, IconName> = { allow: 'check', deny: 'x', needs_approval: 'clock', system: 'settings' };

type Read = ReturnType<typeof useLog>;
type Key = ReturnType<typeof keyOf>;

export function Rows({ events, seq, search, log }: { events: EventRecord[]; seq?: string; search: LogSearch; log: Read }) {
  const scroll = useRef<HTMLDivElement>(null);
  const { list, toggle } = useGroups(events, search, seq);
  const { marked, mark } = useStepping(scroll, list, seq, search);
  const isSmall = useMediaQuery('(max-width: 767px)');
  const height = isSmall ? 64 : 40;
  const { indexes, total } = useSeen(scroll, list.length, height, () => void log.before());
  useStillness(scroll, list, keyOf, height);
  const active = marked ?? seq;
  useInSight(scroll, active, list.findIndex((row) => (marked === undefined ? holds(row, seq) : keyOf(row) === marked)), height);
  return (
    <div ref={scroll} className={css.scroll}>
      <div style={heldOpen(total)}>
        {indexes.map((index) => {
          const row = list[index];
          if (!row) return null;
          const style = { top: index * height };
          if ('record' in row) return <Event key={row.record.seq} record={row.record} isActive={seq === String(row.record.seq)} search={search} style={style} />;
          return <Crowd key={keyOf(row)} group={row} isActive={holds(row, seq)} isMarked={keyOf(row) === marked} mark={mark} toggle={() => toggle(row)} style={style} />;
        })}
      </div>
      {log.first > 1 && (
        <div className={css.earlier}>
          {log.isFar && <p>Looked through as far back as event {grouped(log.first)}.</p>}
          <Earlier log={log} />
        </div>
      )}
    </div>
  );
}

/** «j» and «k» go from row to row as they are seen: to an event, which opens, or to a group, which is marked and has the keys. «←» goes from an
 * event to the open group that it is in. */
function useStepping(scroll: RefObject<HTMLElement | null>, list: Row[], seq: string | undefined, search: LogSearch) {
  const navigate = useNavigate();
  const [marked, mark] = useState<Key>();
  // Keys may come faster than the events that they open.
  const going = useRef<string>(undefined);
  useEffect(() => {
    going.current = undefined;
  }, [seq]);
  const step = useEffectEvent((by: 1 | -1) => {
    // Where an event takes the place of the list, nobody sees its groups.
    const isHidden = scroll.current?.clientHeight === 0;
    const next = stepped(isHidden ? list.filter((row) => 'record' in row) : list, marked, going.current ?? seq, by);
    if (!next) return;
    if (!('record' in next)) return mark(keyOf(next));
    mark(undefined);
    if (document.activeElement instanceof HTMLElement && scroll.current?.contains(document.activeElement)) document.activeElement.blur();
    going.current = String(next.record.seq);
    void navigate({ to: '/log/$seq', params: { seq: going.current }, search, resetScroll: false });
  });
  const leave = useEffectEvent(() => {
    // The keys are on a row, or on nothing in particular: the page, or what is around the list.
    const at = document.activeElement;
    const isHere = scroll.current?.contains(at) || at?.contains(scroll.current);
    const around = marked === undefined && isHere ? aroundOf(list, going.current ?? seq) : undefined;
    if (around) mark(keyOf(around));
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1);
      if (event.key === 'ArrowLeft' && !event.altKey && !event.metaKey && !event.ctrlKey) leave();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  return { marked, mark };
}

/** The rows with what the server did by itself in groups, but where somebody asks for just that. The event that is open from the beginning is seen. */
function useGroups(events: EventRecord[], { decision, actor, type, token }: LogSearch, seq: string | undefined) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set(seq ? [Number(seq)] : []));
  const isPlain = decision === 'system' || !!actor || !!type || !!token;
  const [known, setKnown] = useState<ReadonlySet<number>>(new Set());
  const list = useMemo(() => (isPlain ? events.map((record) => ({ record })) : rowsOf(events, opened, known)), [events, opened, known, isPlain]);
  const keys = keysOf(list, known);
  if (keys !== known) setKnown(keys);
  const toggle = (group: Group) => setOpened((before) => toggled(before, group));
  return { list, toggle };
}

function Event({ record, isActive, search, style }: { record: EventRecord; isActive: boolean; search: LogSearch; style: CSSProperties }) {
  const navigate = useNavigate();
  const to = { to: '/log/$seq' as const, params: { seq: String(record.seq) }, search };
  return (
    // The number is the link; the row is only a larger target for a mouse.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div className={css.row} style={style} data-active={isActive || undefined} onClick={() => void navigate(to)}>
      <Go {...to}>{record.seq}</Go>
      <When at={record.at} as="stamp" />
      <span className={css.sign} data-tone={record.decision}>
        <Icon name={SIGNS[record.decision] ?? 'log'} size={14} strokeWidth={2.4} />
      </span>
      <Sentence record={record} />
      <code>{fieldsOf(record).type}</code>
    </div>
  );
}

/** Many events of the server, as one row that opens. */
function Crowd({ group, isActive, isMarked, mark, toggle, style }: { group: Group; isActive: boolean; isMarked: boolean; mark: (key: Key) => void; toggle: () => void; style: CSSProperties }) {
  const { events, isOpen } = group;
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isMarked) row.current?.focus({ preventScroll: true });
  }, [isMarked]);
  const press = ({ key }: Pressed) => {
    if (key === (isOpen ? 'ArrowLeft' : 'ArrowRight')) toggle();
  };
  const types = [...new Set(events.map((record) => fieldsOf(record).type))];
  return (
    <button
      ref={row}
      type="button"
      className={`${css.row} ${css.crowd}`}
      style={style}
      data-active={isActive || undefined}
      aria-expanded={isOpen}
      onClick={toggle}
      onKeyDown={press}
      onFocus={() => mark(keyOf(group))}
      onBlur={() => mark(undefined)}
    >
      <span className={css.count}>{events[0]?.seq}</span>
      <When at={events[0]?.at} as="stamp" />
      <span className={css.sign}>
        <Icon name={isOpen ? 'down' : 'right'} size={14} strokeWidth={2.4} />
      </span>
      <span>
        {events.length} events of the server: {types.map((type) => type.replaceAll('_', ' ')).join(', ')}
      </span>
    </button>
  );
}

export function Earlier({ log }: { log: Read }) {
  return (
    <Button variant="default" loading={log.isReading} onClick={() => void log.readOn()}>
      Read earlier events
    </Button>
  );
}
