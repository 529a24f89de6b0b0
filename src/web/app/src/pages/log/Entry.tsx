import { ActionIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { auditKey, auditProof, eventList, type EventRecord } from '../../api';
import { Actor } from '../../parts/Actor';
import { useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Card, Facts } from '../../parts/Page';
import { Json } from '../../parts/PolicyText';
import { fieldsOf, Sentence } from '../../parts/Sentence';
import { Empty, Failed, Loading, Shown } from '../../parts/states';
import { Tip } from '../../parts/Tip';
import { Verdict } from '../../parts/Verdict';
import { exact } from '../../parts/time';
import { differences, proveEvent, type Proved } from '../../proof/proofs';
import { canVerify } from '../../proof/useHead';
import parts from '../../parts/parts.module.css';
import css from './log.module.css';
import { entitle } from '../../parts/visible';

const one = (seq: number) => ({
  queryKey: ['event', seq],
  queryFn: async () => (await eventList({ query: { since: seq - 1, limit: 1 }, throwOnError: true })).data.events.find((record) => record.seq === seq) ?? null,
  staleTime: Infinity,
});

export function Entry() {
  const { seq } = useParams({ from: '/log/$seq' });
  const search = useSearch({ from: '/log' });
  const number = Number(seq);
  const isNumber = Number.isSafeInteger(number) && number > 0;
  const record = useQuery({ ...one(number), enabled: isNumber });
  useEffect(() => {
    entitle(`Event ${seq}`);
  }, [seq]);
  return (
    <div className={css.entry}>
      <div className={css.entryHead}>
        <div>
          <h1>{isNumber ? `Event ${number}` : 'Event'}</h1>
        </div>
        <Tip label="Close (Esc)">
          <ActionIcon component={Link} to="/log" search={search as never} variant="subtle" color="gray" aria-label="Close">
            <Icon name="x" />
          </ActionIcon>
        </Tip>
      </div>
      {isNumber ? (
        <Shown read={record}>{(data) => (data ? <Details record={data} /> : <Empty title="There is no such event">Or it is not yours to see.</Empty>)}</Shown>
      ) : (
        <Empty title="There is no such event">Events are counted from 1.</Empty>
      )}
    </div>
  );
}

function Details({ record }: { record: EventRecord }) {
  const { type, ...fields } = fieldsOf(record);
  return (
    <>
      <p style={{ fontSize: 'var(--t-lg)', fontWeight: 550 }}>
        <Sentence record={record} />
      </p>
      <Facts
        of={[
          ['type', <code key="t">{type}</code>],
          ['by', <Actor key="a" id={record.actor} />],
          ...(record.on_behalf_of ?? []).map((id): [string, React.ReactNode] => ['on behalf of', <Actor key={id} id={id} />]),
          ...(record.token_id ? [['with', <OfToken key="w" id={record.token_id} />] as [string, React.ReactNode]] : []),
          ['at', exact(new Date(record.at))],
          ['decision', <Verdict key="d" decision={record.decision} />],
          ...(record.policies && record.policies.length > 0 ? [['policies', <code key="p">{record.policies.join(', ')}</code>] as [string, React.ReactNode]] : []),
          ...(record.policy ? [['under', `version ${record.policy.version} of the policies`] as [string, React.ReactNode]] : []),
        ]}
      />
      {type === 'denied' && typeof fields.operation === 'string' && (
        <Link to="/explain" search={{ actor: record.actor, op: fields.operation, target: typeof fields.target === 'string' ? fields.target : undefined, at: record.seq }}>
          Why was this refused?
        </Link>
      )}
      <Proof record={record} />
      <Card title="Content">
        <Json value={fields} />
      </Card>
    </>
  );
}

/** The token that it was asked with, and the way to all else that was. */
function OfToken({ id }: { id: string }) {
  return (
    <span className={parts.sentence}>
      the token <code>{id}</code>:{' '}
      <Link to="/log" search={{ token: id }}>
        all that was done with it
      </Link>
    </span>
  );
}

async function prove(seq: number): Promise<Proved> {
  if (!canVerify()) throw new Error('this browser verifies only over https or on this machine');
  const [proof, key] = await Promise.all([auditProof({ path: { seq }, throwOnError: true, parseAs: 'text' }), auditKey({ throwOnError: true, parseAs: 'text' })]);
  return proveEvent(proof.data as string, key.data as string, seq);
}

/** The event's proof, checked here and now by code that shares nothing with the server's. */
function Proof({ record }: { record: EventRecord }) {
  const proof = useGuarded<Proved, Error, Proved, unknown[]>('audit.proof', { queryKey: ['proof', record.seq], queryFn: () => prove(record.seq), retry: false, staleTime: Infinity });
  if (proof.isPending) return <Loading rows={2} what="verifying" />;
  if (proof.error && 'status' in proof.error) return <Failed error={proof.error} />;
  const wrong = proof.data ? differences(proof.data.leaf, record) : [];
  if (!proof.data || wrong.length > 0) {
    return (
      <div className={css.proof} data-state="false" role="alert">
        <Icon name="alert" />
        <div>
          <strong>This event does not verify</strong>
          <p>{proof.data ? `What is shown differs from the signed entry in: ${wrong.join(', ')}.` : proof.error?.message}</p>
        </div>
      </div>
    );
  }
  return <Verified proof={proof.data} />;
}

function Verified({ proof }: { proof: Proved }) {
  const { leaf, checkpoint } = proof;
  return (
    <Card title="Proof">
      <div className={css.proof} data-state="true">
        <Icon name="shield" size={18} />
        <div>
          <strong>Verified in this browser</strong>
          <p>
            It is entry {leaf.seq} of the {checkpoint.size} that the log’s key has signed.
          </p>
        </div>
      </div>
      <div className={css.steps}>
        <Icon name="check" size={14} strokeWidth={2.6} />
        <p>
          Its leaf of {proof.bytes} bytes has the hash <code>{proof.hash.slice(0, 24)}…</code>
        </p>
        <Icon name="check" size={14} strokeWidth={2.6} />
        <p>{proof.path === 0 ? 'It is the only entry.' : `With ${proof.path} other hashes, it leads to the root of the tree.`}</p>
        <Icon name="check" size={14} strokeWidth={2.6} />
        <p>
          That root is in the checkpoint of <code>{checkpoint.origin}</code>, signed with Ed25519.
        </p>
        <Icon name="check" size={14} strokeWidth={2.6} />
        <p>Number, time, actor, type and decision above are those of the leaf.</p>
      </div>
      <details style={{ marginTop: 'var(--s-3)' }}>
        <summary className={parts.dim}>The leaf</summary>
        <Json value={leaf} />
        <p className={parts.dim} style={{ marginTop: 8 }}>
          The content below is bound to the leaf by <code>c</code>, with a salt that stays on the server: <code>ok audit export</code> hands it to an auditor.
        </p>
      </details>
    </Card>
  );
}
