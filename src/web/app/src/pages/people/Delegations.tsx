import { NumberInput, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState, type FormEvent } from 'react';
import { delegationGrant, delegationListOptions, delegationRevoke, type Authority, type ShownDelegation } from '../../api';
import { Actor, nameOf, offered, useActors } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import { cents } from '../../parts/plain';
import { useDialog } from '../../parts/asked';
import { layout } from './layout';
import css from './people.module.css';
import parts from '../../parts/parts.module.css';

export const useDelegations = () => useGuarded('delegation.list', delegationListOptions({ query: { limit: 1000 } }));

export function Delegations() {
  const delegations = useDelegations();
  const [isOpen, setOpen] = useDialog('new');
  return (
    <Page
      title="Delegations"
      lead="Who acts on whose behalf, as far as both may."
      actions={
        <Do op="delegation.grant" onClick={() => setOpen(true)} leftSection={<Icon name="plus" size={14} />}>
          Delegate
        </Do>
      }
    >
      <Shown read={delegations}>
        {(list) =>
          list.length === 0 ? (
            <Card>
              <Empty icon="link" title="Nobody acts for anybody">
                Let somebody act on your behalf, for a time and within bounds.
              </Empty>
            </Card>
          ) : (
            <div className={parts.stack}>
              <div className={parts.hideSmall}>
                <Card flush title="Who for whom">
                  <Graph list={list.filter(({ status }) => status === 'active')} />
                </Card>
              </div>
              <Card flush title="All">
                <DelegationTable list={list} />
              </Card>
            </div>
          )
        }
      </Shown>
      <Grant isOpen={isOpen} close={() => setOpen(false)} />
    </Page>
  );
}

const W = 168;
const H = 48;

/** From the left, who gives; to the right, who takes. The table below it says the same to who cannot see it. */
function Graph({ list }: { list: ShownDelegation[] }) {
  const { byId } = useActors();
  const graph = useMemo(() => layout(list, W, H), [list]);
  if (list.length === 0) return <Empty icon="link" title="None is active" />;
  const short = (text: string) => (text.length > 19 ? `${text.slice(0, 18)}…` : text);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={css.graph} tabIndex={0} role="region" aria-label="graph of delegations">
      <svg width={graph.width} height={graph.height} aria-hidden="true">
        <defs>
          <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
            <path d="M0 0 10 5 0 10z" style={{ fill: 'var(--accent)', stroke: 'none' }} />
          </marker>
        </defs>
        {graph.edges.map(({ of, from, to }) => {
          const [x1, y1, x2, y2] = [from.x + W, from.y + H / 2, to.x, to.y + H / 2];
          const middle = (x1 + x2) / 2;
          return (
            <g key={of.id}>
              <path d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2 - 2} ${y2}`} markerEnd="url(#tip)" />
              <text data-small x={middle} y={(y1 + y2) / 2 - 8} textAnchor="middle">
                {of.authority}
                {of.left_cents !== null && of.left_cents !== undefined ? `, ${cents(of.left_cents)} left` : ''}
              </text>
            </g>
          );
        })}
        {graph.nodes.map(({ id, x, y }) => (
          <Link key={id} to="/people/$id" params={{ id }} tabIndex={-1}>
            <rect x={x} y={y} width={W} height={H} rx={10} />
            <text x={x + 14} y={y + 21}>
              {short(nameOf(byId.get(id), id))}
            </text>
            <text data-small x={x + 14} y={y + 37}>
              {short(id)}
            </text>
          </Link>
        ))}
      </svg>
    </div>
  );
}

export function DelegationTable({ list }: { list: ShownDelegation[] }) {
  const { act, busy } = useAct();
  return (
    <Table cards columns={['From', 'To', 'What', 'Budget left', 'Until', { hidden: 'actions' }]}>
      {list.map((one) => (
        <tr key={one.id}>
          <td>
            <Actor id={one.from} />
          </td>
          <td data-label="to">
            <Actor id={one.to} />
          </td>
          <td>
            {one.authority}: <code>{one.scope.join(', ')}</code>
          </td>
          <td data-label="budget left">{one.left_cents === null || one.left_cents === undefined ? 'no limit' : cents(one.left_cents)}</td>
          <td data-label={one.status === 'active' ? 'until' : undefined}>{one.status === 'active' ? <When at={one.expires_at} /> : <State state={one.status} />}</td>
          <td style={{ textAlign: 'right' }}>
            {one.status === 'active' && (
              <Do late op="delegation.revoke" target={one.id} variant="default" size="compact-sm" loading={busy} onClick={() => void act((headers) => delegationRevoke({ path: { id: one.id }, headers, throwOnError: true }), 'Revoked')}>
                Revoke
              </Do>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

const AUTHORITIES = [
  { value: 'inform', label: 'inform: read' },
  { value: 'propose', label: 'propose: read, and propose' },
  { value: 'act', label: 'act: everything in the scope' },
];

function Grant({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { all } = useActors();
  const [fields, setFields] = useState({ to: '', scope: '*', authority: 'inform' as Authority, days: 7, budget: '' as number | string });
  const { act, busy } = useAct();
  const people = offered(all, ({ kind, status }) => kind !== 'team' && status === 'active');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = {
      to: fields.to,
      scope: fields.scope.split(/[\s,]+/).filter(Boolean),
      authority: fields.authority,
      ttl: `${fields.days}d`,
      ...(fields.budget === '' ? {} : { budget_cents: Number(fields.budget) }),
    };
    if (await act((headers) => delegationGrant({ body, headers, throwOnError: true }), 'Delegated')) close();
  };
  return (
    <FormDialog title="Let somebody act on your behalf" isOpen={isOpen} close={close} submit={submit} action="Delegate" busy={busy} disabled={!fields.to}>
      <Select label="Who" data={people} searchable value={fields.to || null} onChange={(to) => setFields({ ...fields, to: to ?? '' })} required />
      <Select label="How far" data={AUTHORITIES} allowDeselect={false} value={fields.authority} onChange={(authority) => setFields({ ...fields, authority: (authority as Authority) ?? 'inform' })} />
      <TextInput label="What" description="operations such as actor.read, groups such as token.*, or *" value={fields.scope} onChange={(event) => setFields({ ...fields, scope: event.currentTarget.value })} required />
      <NumberInput label="For how many days" min={1} max={366} value={fields.days} onChange={(days) => setFields({ ...fields, days: Number(days) || 7 })} />
      <NumberInput label="Budget" description="what may be spent; empty for no limit" min={0} suffix=" ct" thousandSeparator="," allowDecimal={false} value={fields.budget} onChange={(budget) => setFields({ ...fields, budget })} />
    </FormDialog>
  );
}
