import { TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { OPERATIONS } from '../../api/operations.gen';
import type { AllExplained } from '../../api';
import { Actor } from '../../parts/Actor';
import { Icon } from '../../parts/icons';
import { Card } from '../../parts/Page';
import { Verdict } from '../../parts/Verdict';
import parts from '../../parts/parts.module.css';
import { Choices } from '../../parts/Choices';

/** Everything that somebody may do, or may not, about the company itself. */
export function All({ all }: { all: AllExplained }) {
  const [text, setText] = useState('');
  const [decision, setDecision] = useState('');
  const listed = all.operations.filter((one) => (!decision || one.decision === decision) && `${one.operation} ${OPERATIONS[one.operation] ?? ''}`.toLowerCase().includes(text.toLowerCase()));
  const count = (kind: string) => all.operations.filter((one) => one.decision === kind).length;
  return (
    <Card
      flush
      title={
        <>
          What <Actor id={all.actor} /> may do
        </>
      }
      aside={<TextInput size="xs" placeholder="Filter" aria-label="filter" value={text} onChange={(event) => setText(event.currentTarget.value)} leftSection={<Icon name="search" size={13} />} />}
    >
      <div style={{ padding: 'var(--s-3) var(--s-4)' }}>
        <Choices
          size="xs"
          value={decision}
          onChange={setDecision}
          aria-label="decision"
          data={[
            { value: '', label: `All ${all.operations.length}` },
            { value: 'allow', label: `Allowed ${count('allow')}` },
            { value: 'needs_approval', label: `With approval ${count('needs_approval')}` },
            { value: 'deny', label: `Denied ${count('deny')}` },
            ...(count('depends') > 0 ? [{ value: 'depends', label: `Depends ${count('depends')}` }] : []),
          ]}
        />
      </div>
      <div className={parts.scroll}>
        <table className={parts.table}>
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Answer</th>
              <th scope="col" className={parts.hideSmall}>
                Why
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.map((one) => (
              <tr key={one.operation}>
                <td>
                  <Link to="/explain" search={{ actor: all.actor, op: one.operation }}>
                    <code>{one.operation}</code>
                  </Link>
                  <div className={parts.dim} style={{ fontSize: 'var(--t-sm)' }}>
                    {OPERATIONS[one.operation]}
                  </div>
                </td>
                <td>
                  <Verdict decision={one.decision} />
                </td>
                <td className={parts.hideSmall}>{one.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
