import { Checkbox } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { tokenListOptions, tokenRevoke, type ListedToken } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { useGuarded } from '../../parts/guard';
import { Card } from '../../parts/Page';
import { many } from '../../parts/plain';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';

export function TokenTable({ holder }: { holder: string }) {
  const tokens = useGuarded('token.list', tokenListOptions({ query: { actor: holder, limit: 200 } }));
  return (
    <Card flush title="Tokens">
      <Shown read={tokens} rows={2}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="key" title="No tokens">
              That you may see.
            </Empty>
          ) : (
            <Table cards columns={['For', 'Access', 'Until', { hidden: 'actions' }]}>
              {list.map((token) => (
                <Row key={token.id} token={token} />
              ))}
            </Table>
          )
        }
      </Shown>
    </Card>
  );
}

function Revoke({ token, isOpen, close }: { token: ListedToken; isOpen: boolean; close: () => void }) {
  const { act, busy } = useAct();
  const [requests, setRequests] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act((headers) => tokenRevoke({ path: { id: token.id }, query: { requests }, headers, throwOnError: true }), 'Revoked');
    const open = done?.requests?.length ?? 0;
    if (open > 0) notifications.show({ color: 'yellow', autoClose: false, message: `${many(open, 'request')} for approval made with it still ${open === 1 ? 'waits' : 'wait'}: see Approvals.` });
    close();
  };
  return (
    <FormDialog title="Revoke this token?" isOpen={isOpen} close={close} submit={submit} action="Revoke" color="red" busy={busy}>
      <p>
        Whatever signs in with <Said>{token.label ? `«${token.label}»` : 'it'}</Said> is refused from then on. This cannot be undone.
      </p>
      <Checkbox checked={requests} onChange={(event) => setRequests(event.currentTarget.checked)} label="Also withdraw the open requests for approval that were made with it" />
    </FormDialog>
  );
}

function Row({ token }: { token: ListedToken }) {
  const [isOpen, setOpen] = useState(false);
  const isActive = token.status === 'active';
  return (
    <tr>
      <td>
        <Said className={parts.anywhere}>{token.label || 'no label'}</Said>
        <div className={`${parts.dim} ${parts.sentence}`} style={{ fontSize: 'var(--t-xs)' }}>
          <Link to="/log" search={{ token: token.id }} aria-label={`what was done with it: ${token.label || token.id}`}>
            what was done with it
          </Link>
          , issued <When at={token.created_at} />
          {token.issuer && token.issuer !== token.actor && (
            <>
              {' '}
              by <Actor id={token.issuer} avatar={false} />
            </>
          )}
        </div>
      </td>
      <td data-label="access">{token.access}</td>
      <td data-label={isActive ? 'until' : undefined}>{isActive ? <When at={token.expires_at} /> : <State state={token.status} />}</td>
      <td style={{ textAlign: 'right' }}>
        {isActive && (
          <>
            <Do late op="token.revoke" target={token.id} variant="default" size="compact-sm" onClick={() => setOpen(true)}>
              Revoke
            </Do>
            <Revoke token={token} isOpen={isOpen} close={() => setOpen(false)} />
          </>
        )}
      </td>
    </tr>
  );
}

