import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { changeListOptions, type ShownChange } from '../../api';
import { Actor } from '../../parts/Actor';
import { useGuarded } from '../../parts/guard';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Tabs } from './Tabs';
import { Said } from '../../parts/Said';
import { Choices } from '../../parts/Choices';

const OPEN = new Set<ShownChange['state']>(['proposed', 'in_review', 'approved', 'canary']);

export function Changes() {
  const [show, setShow] = useState('open');
  const changes = useGuarded('change.list', { ...changeListOptions({ query: { limit: 1000 } }), refetchInterval: 15_000 });
  return (
    <Page
      title="Policy"
      lead="Changes on their way into force: tested, reviewed by somebody else, tried beside what is in force, promoted."
      actions={
        <Choices
          value={show}
          onChange={setShow}
          aria-label="which changes"
          data={[
            { value: 'open', label: 'Open' },
            { value: 'all', label: 'All' },
          ]}
        />
      }
    >
      <Tabs />
      <Card flush>
        <Shown read={changes}>
          {(all) => {
            const list = show === 'all' ? all : all.filter(({ state }) => OPEN.has(state));
            return list.length === 0 ? (
              <Empty icon="branch" title={show === 'all' ? 'No changes yet' : 'No open changes'}>
                Edit a file and propose it, or let CI propose with <code>ok policy apply</code>.
              </Empty>
            ) : (
              <List list={list} />
            );
          }}
        </Shown>
      </Card>
    </Page>
  );
}

function List({ list }: { list: ShownChange[] }) {
  return (
    <Table columns={['Change', 'State', 'By', 'Made from', 'Changed']}>
      {list.map((one) => (
        <tr key={one.id}>
          <td>
            <Link to="/policy/changes/$id" params={{ id: one.id }}>
              <Said>{one.reason || one.id}</Said>
            </Link>
          </td>
          <td>
            <State state={one.state} />
          </td>
          <td>
            <Actor id={one.author} />
          </td>
          <td>version {one.base_version}</td>
          <td className={parts.dim}>
            <When at={one.updated_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
