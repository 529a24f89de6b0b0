import { ActionIcon } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { EventRecord } from '../../api';
import { offered, useActors } from '../../parts/Actor';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { TYPES } from '../../parts/Sentence';
import type { LogSearch } from '../../router';
import { whenIdle } from '../../shell/idle';
import { DECISIONS } from './decisions';

const ExportMenu = lazy(() => whenIdle(() => import('./ExportMenu')));

export function Filters({ search, events }: { search: LogSearch; events: EventRecord[] }) {
  const navigate = useNavigate();
  const { all } = useActors();
  const set = (next: Partial<LogSearch>) => void navigate({ to: '.', search: (before: LogSearch) => ({ ...before, ...next }) as never });
  const people = useMemo(() => offered(all, ({ kind }) => kind !== 'team'), [all]);
  return (
    <>
      <Select placeholder="Any decision" aria-label="decision" clearable value={search.decision ?? null} onChange={(decision) => set({ decision: decision ?? undefined })} data={DECISIONS} />
      <Select placeholder="Anybody" aria-label="actor" clearable searchable limit={50} value={search.actor ?? null} onChange={(actor) => set({ actor: actor ?? undefined })} data={people} />
      <Select placeholder="Any type" aria-label="type of event" clearable searchable value={search.type ?? null} onChange={(type) => set({ type: type ?? undefined })} data={TYPES} />
      {search.token && <Select placeholder="Any token" aria-label="token" clearable value={search.token} onChange={() => set({ token: undefined })} data={[search.token]} />}
      <Export search={search} events={events} />
    </>
  );
}

/** The events as a file; which ones is loaded once the page stands. */
function Export({ search, events }: { search: LogSearch; events: EventRecord[] }) {
  const [isOpen, setOpen] = useState(false);
  const button = (
    <ActionIcon variant="default" size={36} aria-label="Export" onClick={() => setOpen(true)}>
      <Icon name="download" />
    </ActionIcon>
  );
  return (
    <div style={{ width: 'auto', flex: 'none' }}>
      <Suspense fallback={button}>
        <ExportMenu search={search} events={events} isOpen={isOpen} setOpen={setOpen}>
          {button}
        </ExportMenu>
      </Suspense>
    </div>
  );
}
