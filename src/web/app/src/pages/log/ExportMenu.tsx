import { Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState, type ReactNode } from 'react';
import type { EventRecord } from '../../api';
import { grouped } from '../../parts/plain';
import { sentence } from '../../parts/states';
import type { LogSearch } from '../../router';
import { everything } from './useLog';

type Props = { search: LogSearch; events: EventRecord[]; isOpen: boolean; setOpen: (isOpen: boolean) => void; children: ReactNode };

/** The events as a file: those that are listed, or all that match. A whole log with its proofs is exported on the machine of the server. */
export default function ExportMenu({ search, events, isOpen, setOpen, children }: Props) {
  const { read, found } = useEverything(search);
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md">
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>As JSON, one event a line</Menu.Label>
        <Menu.Item onClick={() => save(events.toReversed())}>The {grouped(events.length)} events listed</Menu.Item>
        <Menu.Item closeMenuOnClick={false} disabled={found !== undefined} onClick={() => void read()}>
          {found === undefined ? 'All that match the filters' : `Reading: ${grouped(found)} so far`}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>
          With proofs, for an auditor: <code>ok audit export DIR</code>
        </Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Reads all that match and saves it; `found`: how many so far, while it reads. */
function useEverything(search: LogSearch) {
  const [found, setFound] = useState<number>();
  const read = async () => {
    setFound(0);
    try {
      save(await everything(search, setFound));
    } catch (error) {
      notifications.show({ color: 'red', message: `Not exported: ${sentence(error)}` });
    } finally {
      setFound(undefined);
    }
  };
  return { read, found };
}

function save(events: EventRecord[]) {
  const text = events.map((record) => `${JSON.stringify(record)}\n`);
  const address = URL.createObjectURL(new Blob(text, { type: 'application/x-ndjson' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: 'events.jsonl' });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
