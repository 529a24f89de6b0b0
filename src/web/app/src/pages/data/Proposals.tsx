import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { schemaApply, schemaListOptions, schemaReadOptions, schemaReject, type Impact, type ShownProposal } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { useGuarded } from '../../parts/guard';
import { Modal } from '../../parts/later';
import { Card } from '../../parts/Page';
import { Json } from '../../parts/PolicyText';
import { Said } from '../../parts/Said';
import { Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { waitingFor, Waits } from '../../parts/Waits';
import { When } from '../../parts/When';
import { useApprovals } from '../../shell/useMe';
import parts from '../../parts/parts.module.css';
import { grouped } from '../../parts/plain';
import { isFinal, step } from './steps';

/** What is proposed to become of collections: each is looked at before it is decided. */
export function Proposals() {
  const proposals = useGuarded('schema.list', schemaListOptions({ query: { limit: 100 } }));
  const [shown, setShown] = useState<ShownProposal>();
  const open = (proposals.data ?? []).filter((one) => one.status === 'proposed');
  if (open.length === 0) return null;
  return (
    <Card flush title="Proposed changes of collections">
      <Table columns={['Collection', 'Change', 'By', { hidden: 'actions' }]}>
        {open.map((one) => (
          <tr key={one.id}>
            <td>{one.collection}</td>
            <td>
              <Steps of={one} />
              <div className={parts.dim}>
                <Said>{one.reason}</Said>
              </div>
            </td>
            <td>
              <Actor id={one.proposer} />
              <div className={parts.dim}>
                <When at={one.created_at} />
              </div>
            </td>
            <td>
              <div className={parts.actions}>
                <Do late op="schema.read" target={one.id} variant="default" size="compact-sm" onClick={() => setShown(one)}>
                  Look and decide
                </Do>
              </div>
            </td>
          </tr>
        ))}
      </Table>
      <Modal opened={!!shown} onClose={() => setShown(undefined)} title={shown && `Change of ${shown.collection}`} size={640}>
        {shown && <Decision key={shown.id} of={shown} end={() => setShown(undefined)} />}
      </Modal>
    </Card>
  );
}

function Steps({ of }: { of: ShownProposal }) {
  return of.ops.map((op, at) => <div key={at}>{step(op)}</div>);
}

function Decision({ of, end }: { of: ShownProposal; end: () => void }) {
  const read = useQuery({ ...schemaReadOptions({ path: { id: of.id } }), retry: false });
  const [reason, setReason] = useState('');
  const { act, busy } = useAct();
  const waits = waitingFor(useApprovals('asked').data, 'schema.apply', of.id);
  const path = { path: { id: of.id }, throwOnError: true } as const;
  const apply = async () => {
    if (await act((headers) => schemaApply({ ...path, headers, body: {} }), `${of.collection} is changed`)) end();
  };
  const reject = async () => {
    if (await act((headers) => schemaReject({ ...path, headers, body: { reason: reason.trim() } }), 'Rejected')) end();
  };
  return (
    <div className={parts.stack}>
      <div>
        <Steps of={of} />
        <p className={parts.dim}>
          <Actor id={of.proposer} avatar={false} /> says: <Said>{of.reason}</Said>
        </p>
      </div>
      <Shown read={read}>
        {(proposal) => (
          <>
            {proposal.impact && <Effect of={proposal.impact} />}
            {of.ops.some(isFinal) && <p role="alert">What goes is gone for good: its name is not used again, and its values are shown to nobody.</p>}
            <details>
              <summary>The steps, to the letter</summary>
              <Json value={proposal.ops} />
            </details>
            {waits && <Waits approval={waits} />}
            <div className={parts.actions}>
              {!waits && <Do op="schema.apply" target={of.id} color={of.ops.some(isFinal) ? 'red' : undefined} loading={busy} disabled={(proposal.impact?.problems.length ?? 0) > 0} onClick={() => void apply()}>
                Apply
              </Do>}
            </div>
            <form
              className={parts.form}
              onSubmit={(event) => {
                event.preventDefault();
                void reject();
              }}
            >
              <TextInput label="Or why not" description="whoever proposed it reads it" value={reason} onChange={(event) => setReason(event.currentTarget.value)} required />
              <Do op="schema.reject" target={of.id} type="submit" variant="default" loading={busy} disabled={!reason.trim()}>
                Reject
              </Do>
            </form>
          </>
        )}
      </Shown>
    </div>
  );
}

function Effect({ of }: { of: Impact }) {
  return (
    <ul>
      {typeof of.rows === 'number' && <li>{of.rows === 1 ? 'the collection has one record' : `the collection has ${grouped(of.rows)} records`}</li>}
      {of.views.length > 0 && <li>views of it: {of.views.join(', ')}</li>}
      {of.problems.map((problem) => (
        <li key={problem}>
          <strong>stands in the way:</strong> <Said>{problem}</Said>
        </li>
      ))}
    </ul>
  );
}
