import { ActionIcon, Menu, Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { EventRecord } from '../../api';
import { useActors } from '../../parts/Actor';
import { Icon } from '../../parts/icons';
import { TYPES } from '../../parts/Sentence';
import type { LogSearch } from '../../router';

export default function Filters({ search, events }: { search: LogSearch; events: EventRecord[] }) {
  const navigate = useNavigate();
  const { all } = useActors();
  const set = (next: Partial<LogSearch>) => void navigate({ to: '.', search: (before: LogSearch) => ({ ...before, ...next }) as never });
  const people = useMemo(() => all.filter(({ kind }) => kind !== 'team').map(({ id, name }) => ({ value: id, label: name ? `${name} (${id})` : id })), [all]);
  return (
    <>
      <Select placeholder="Any decision" aria-label="decision" clearable value={search.decision ?? null} onChange={(decision) => set({ decision: decision ?? undefined })} data={[{ value: 'allow', label: 'allowed' }, { value: 'needs_approval', label: 'needs approval' }, { value: 'deny', label: 'denied' }, { value: 'system', label: 'by the server' }]} />
      <Select placeholder="Anybody" aria-label="actor" clearable searchable limit={50} value={search.actor ?? null} onChange={(actor) => set({ actor: actor ?? undefined })} data={people} />
      <Select placeholder="Any type" aria-label="type of event" clearable searchable value={search.type ?? null} onChange={(type) => set({ type: type ?? undefined })} data={TYPES} />
      <Export events={events} />
    </>
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
