import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { tokenListOptions, tokenReadOptions, tokenRevoke, type ListedToken } from '../../api';
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

type Lists = 'requests' | 'changes' | 'runs' | 'tokens' | 'delegations' | 'webhooks' | 'break_glass';
const OUTLIVING: [Lists, string, string?][] = [
  ['requests', 'request for approval', 'requests for approval'],
  ['changes', 'change'],
  ['runs', 'run'],
  ['tokens', 'token'],
  ['delegations', 'delegation'],
  ['webhooks', 'webhook subscription'],
  ['break_glass', 'break-glass grant'],
];

/** What was begun with a token and goes on when it is revoked. */
function Outliving({ id }: { id: string }) {
  const { data } = useGuarded('token.read', tokenReadOptions({ path: { id } }));
  const left = OUTLIVING.flatMap(([field, one, more]) => (data?.[field]?.length ? [many(data[field].length, one, more)] : []));
  if (left.length === 0) return null;
  return (
    <p>
      What was begun with it goes on: {left.join(', ')}. <code>ok token show {id}</code> names each, and what ends it.
    </p>
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
      {isOpen && <Outliving id={token.id} />}
      <label>
        <input type="checkbox" checked={requests} onChange={(event) => setRequests(event.currentTarget.checked)} /> Also end the open requests for approval that were made with it
      </label>
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

