import { Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EventRecord } from '../../api';
import { grouped } from '../../parts/plain';

type Props = { events: EventRecord[]; isOpen: boolean; setOpen: (isOpen: boolean) => void; children: ReactNode };

/** What is listed, as a file. A whole log with its proofs is exported on the machine of the server. */
export default function ExportMenu({ events, isOpen, setOpen, children }: Props) {
  const lines = () => events.toReversed().map((record) => JSON.stringify(record));
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md">
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>The {grouped(events.length)} events listed</Menu.Label>
        <Menu.Item onClick={() => save('events.jsonl', `${lines().join('\n')}\n`, 'application/x-ndjson')}>JSON, one a line</Menu.Item>
        <Menu.Divider />
        <Menu.Label>
          With proofs, for an auditor: <code>ok audit export DIR</code>
        </Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}

function save(name: string, text: string, type: string) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
