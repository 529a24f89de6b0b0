import { Link } from '@tanstack/react-router';
import { knowledgeAccept, knowledgeListOptions, knowledgeReject, knowledgeRetract, type ShownKnowledge } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { useGuarded } from '../../parts/guard';
import { Card } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';

const STANDING = new Set<ShownKnowledge['status']>(['proposed', 'quarantined', 'accepted']);

/** What people and agents have learnt: first what waits for a decision, then what is recalled. */
export function Knowledge() {
  const knowledge = useGuarded('knowledge.list', knowledgeListOptions({ query: { limit: 200 } }));
  return (
    <Card flush title="Knowledge">
      <Shown read={knowledge}>
        {(list) => {
          const standing = list.filter(({ status }) => STANDING.has(status));
          const [known, open] = [standing.filter(({ status }) => status === 'accepted'), standing.filter(({ status }) => status !== 'accepted')];
          return standing.length === 0 ? (
            <Empty icon="data" title="Nothing is known yet">
              Anybody proposes, somebody else accepts: <code>ok brain propose-knowledge</code>
            </Empty>
          ) : (
            <Table columns={['What', 'About', 'By', { hidden: 'actions' }]}>
              {[...open, ...known].map((entry) => (
                <Entry key={entry.id} of={entry} />
              ))}
            </Table>
          );
        }}
      </Shown>
    </Card>
  );
}

function Entry({ of }: { of: ShownKnowledge }) {
  return (
    <tr>
      <td>
        <bdi>{of.statement ?? 'erased'}</bdi> <State state={of.status} />
        {of.status === 'quarantined' && (
          <div className={parts.dim}>
            quarantined: <bdi>{of.reasons.join('; ')}</bdi>
          </div>
        )}
        {(of.reference || of.origin === 'untrusted') && (
          <div className={parts.dim}>
            {of.origin === 'untrusted' ? 'from outside' : 'from'}
            {of.reference && (
              <>
                : <bdi>{of.reference}</bdi>
              </>
            )}
          </div>
        )}
      </td>
      <td>
        {of.topics.join(', ') || '–'}
        {of.scope && (
          <div className={parts.dim}>
            for <Actor id={of.scope} plain avatar={false} />
          </div>
        )}
      </td>
      <td>
        <Actor id={of.proposed_by} />
        <div className={parts.dim}>
          <When at={of.created_at} />
          {of.run && (
            <>
              {' '}
              in <Link to="/runs/$id" params={{ id: of.run }}>a run</Link>
            </>
          )}
        </div>
      </td>
      <td>{of.status === 'accepted' ? <Retracting of={of} /> : <Deciding of={of} />}</td>
    </tr>
  );
}

function Deciding({ of }: { of: ShownKnowledge }) {
  const { act, busy } = useAct();
  const call = { path: { id: of.id }, body: { version: of.version }, throwOnError: true } as const;
  return (
    <div className={parts.actions}>
      <Do late op="knowledge.accept" target={of.id} size="compact-sm" loading={busy} onClick={() => void act((headers) => knowledgeAccept({ ...call, headers }), 'Accepted: it is recalled from now on')}>
        Accept
      </Do>
      <Do late op="knowledge.reject" target={of.id} variant="default" size="compact-sm" loading={busy} onClick={() => void act((headers) => knowledgeReject({ ...call, headers }), 'Rejected')}>
        Reject
      </Do>
    </div>
  );
}

function Retracting({ of }: { of: ShownKnowledge }) {
  const { act, busy } = useAct();
  const call = { path: { id: of.id }, body: { version: of.version }, throwOnError: true } as const;
  return (
    <div className={parts.actions}>
      <Do late op="knowledge.retract" target={of.id} variant="default" size="compact-sm" loading={busy} onClick={() => void act((headers) => knowledgeRetract({ ...call, headers }), 'Retracted: it is recalled no longer')}>
        Retract
      </Do>
    </div>
  );
}
