import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState, type CSSProperties } from 'react';
import type { EventRecord } from '../../api';
import { Go } from '../../parts/Go';
import { Icon, type IconName } from '../../parts/icons';
import { fieldsOf, Sentence } from '../../parts/Sentence';
import { useInSight, useSeen, useStillness } from '../../parts/Virtual';
import { When } from '../../parts/When';
import type { LogSearch } from '../../router';
import { keysOf, rowsOf, toggled, type Group, type Row } from './groups';
import css from './log.module.css';
import type { useLog } from './useLog';

const SIGNS: Record<string, IconName> = { allow: 'check', deny: 'x', needs_approval: 'clock', system: 'settings' };

type Read = ReturnType<typeof useLog>;

export function Rows({ events, seq, search, log }: { events: EventRecord[]; seq?: string; search: LogSearch; log: Read }) {
  const scroll = useRef<HTMLDivElement>(null);
  const { list, toggle } = useGroups(events, search);
  const isSmall = useMediaQuery('(max-width: 767px)');
  const height = isSmall ? 64 : 40;
  const { indexes, total } = useSeen(scroll, list.length, height, () => void log.before());
  useStillness(scroll, list, keyOf, height);
  useInSight(scroll, seq, list.findIndex((row) => holds(row, seq)), height);
  return (
    <div ref={scroll} className={css.scroll}>
      <div style={{ height: total, position: 'relative' }}>
        {indexes.map((index) => {
          const row = list[index];
          if (!row) return null;
          const style = { top: index * height };
          if ('record' in row) return <Event key={row.record.seq} record={row.record} isActive={seq === String(row.record.seq)} search={search} style={style} />;
          return <Crowd key={`group ${row.key}`} group={row} isActive={!row.isOpen && holds(row, seq)} toggle={() => toggle(row)} style={style} />;
        })}
      </div>
      {log.first > 1 && (
        <div style={{ display: 'grid', placeItems: 'center', padding: 16 }}>
          <Earlier log={log} />
        </div>
      )}
    </div>
  );
}

const keyOf = (row: Row | undefined) => row && ('record' in row ? row.record.seq : `group ${row.key}`);

/** Whether a row is an event, or a group with it. */
const holds = (row: Row, seq: string | undefined) => ('record' in row ? [row.record] : row.events).some((record) => String(record.seq) === seq);

/** The rows with what the server did by itself in groups, but where somebody asks for just that. */
function useGroups(events: EventRecord[], { decision, actor, type }: LogSearch) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const isPlain = decision === 'system' || !!actor || !!type;
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
function Crowd({ group, isActive, toggle, style }: { group: Group; isActive: boolean; toggle: () => void; style: CSSProperties }) {
  const { events, isOpen } = group;
  const types = [...new Set(events.map((record) => fieldsOf(record).type))];
  return (
    <button type="button" className={`${css.row} ${css.crowd}`} style={style} data-active={isActive || undefined} aria-expanded={isOpen} onClick={toggle}>
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
    <Button variant="default" loading={log.isReading} onClick={() => void log.before()}>
      Read earlier events
    </Button>
  );
}
