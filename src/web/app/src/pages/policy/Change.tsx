import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { changeListOptions, changeReadOptions, policyDiff, type ChangeReadResponse, type ShownChange } from '../../api';
import { useMay } from '../../parts/act';
import { useGuarded } from '../../parts/guard';
import { Actor } from '../../parts/Actor';
import { Icon, type IconName } from '../../parts/icons';
import { Meter, Card, Facts } from '../../parts/Page';
import { Shown, type Read } from '../../parts/states';
import { State, Tag, Verdict } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Acts } from './Acts';
import { ENDED } from './ended';
import { Comparison, ImpactCard, MatrixTable, NoImpact, type Cell } from './Comparison';
import { seenIn } from './canary';
import css from './policy.module.css';
import { Said } from '../../parts/Said';
import { grouped, many } from '../../parts/plain';
import { entitle } from '../../parts/visible';

export function ChangePage() {
  const { id } = useParams({ from: '/policy/changes/$id' });
  const compared = useQuery({ ...changeReadOptions({ path: { id } }), refetchInterval: ({ state }) => (state.error ? false : 10_000), retry: false });
  // A large comparison takes long, or longer than a request may: the change itself is there at once.
  const listed = useGuarded('change.list', { ...changeListOptions({ query: { limit: 1000 } }), enabled: !compared.data });
  const change = compared.data?.change ?? listed.data?.find((one) => one.id === id);
  useEffect(() => {
    entitle(change?.reason || 'Change');
  }, [change?.reason]);
  return (
    <div className={parts.page}>
      {!change && <h1 className={parts.vh}>Change</h1>}
      {change ? <Whole change={change} compared={compared} /> : <Shown read={compared}>{() => null}</Shown>}
    </div>
  );
}

function Whole({ change, compared }: { change: ShownChange; compared: Read<ChangeReadResponse> }) {
  return (
    <>
      <Head change={change} />
      <Steps change={change} />
      <div className={parts.grid}>
        <div className={parts.stack}>
          {change.canary && <Canary change={change} />}
          <Evals change={change} />
          <Replay change={change} />
          <Shown read={compared}>{(data) => <Comparison of={data} />}</Shown>
        </div>
        <div className={parts.stack}>
          <Acts change={change} />
          <Reviews change={change} />
          <Card title="About">
            <Facts
              of={[
                ['by', <Actor key="a" id={change.author} />],
                ['made from', `version ${change.base_version}`],
                ...(change.version ? [['came into force as', `version ${change.version}`] as [string, React.ReactNode]] : []),
                ...(change.rolls_back ? [['rolls back to', `version ${change.rolls_back}`] as [string, React.ReactNode]] : []),
                ...(change.commit ? [['commit', <code key="c">{change.commit}</code>] as [string, React.ReactNode]] : []),
                ['content', <code key="h">{change.hash.slice(0, 16)}…</code>],
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

function Head({ change }: { change: ShownChange }) {
  return (
    <header className={parts.pageHead} style={{ marginBottom: 'var(--s-4)' }}>
      <div>
        <Link to="/policy/changes" className={parts.dim}>
          Changes
        </Link>
        <h1>
          <Said>{change.reason || change.id}</Said>
        </h1>
        <p>
          <State state={change.state} /> {ENDED.has(change.state) && <When at={change.updated_at} />} proposed by <Actor id={change.author} />, <When at={change.created_at} />
        </p>
        {change.rejected_before && (
          <p role="note">
            <Actor id={change.rejected_before.by} /> rejected <Link to="/policy/changes/$id" params={{ id: change.rejected_before.id }}>the same content</Link> <When at={change.rejected_before.at} />
            {change.rejected_before.reason && <>: <Said>{change.rejected_before.reason}</Said></>}
          </p>
        )}
        {change.token_revoked_at && (
          <p role="note">
            The token that it was proposed with was revoked <When at={change.token_revoked_at} />: if it was stolen, somebody else may have proposed it in the author’s name.
          </p>
        )}
      </div>
    </header>
  );
}

type At = 'done' | 'now' | 'failed' | 'open';

/** How far a change has come, and what comes next. */
export function stepsOf(change: ShownChange): [string, At][] {
  const { state, evals, reviews, canary } = change;
  const isEnded = ['rejected', 'withdrawn', 'superseded'].includes(state);
  const isIn = state === 'promoted' || state === 'rolled_back';
  const last = reviews.filter(({ counts }) => counts);
  const isReviewed = isIn || (last.length > 0 && last.every(({ verdict }) => verdict === 'approve'));
  const steps: [string, At][] = [
    ['Proposed', 'done'],
    ['Tests', evals.run ? (evals.passed ? 'done' : 'failed') : 'open'],
    ['Review', isReviewed ? 'done' : last.some(({ verdict }) => verdict === 'request_changes') ? 'failed' : 'open'],
    ['Canary', canary ? (state === 'canary' ? 'now' : 'done') : isIn ? 'done' : 'open'],
    ['In force', isIn ? 'done' : isEnded ? 'failed' : 'open'],
  ];
  if (isEnded || isIn) return steps.filter(([name, at]) => at !== 'open' && !(name === 'Canary' && !canary));
  // While a canary runs, that is what goes on.
  const next = state === 'canary' ? -1 : steps.findIndex(([name, at]) => at === 'open' && name !== 'Canary');
  return steps.map(([name, at], index) => [name, index === next ? 'now' : at]);
}

const SIGNS: Record<At, IconName> = { done: 'check', now: 'right', failed: 'x', open: 'clock' };

function Steps({ change }: { change: ShownChange }) {
  return (
    <ol className={css.steps} aria-label="progress">
      {stepsOf(change).map(([name, at]) => (
        <li key={name} data-at={at} aria-current={at === 'now' ? 'step' : undefined}>
          <Icon name={SIGNS[at]} size={14} strokeWidth={2.4} />
          {name === 'In force' && at === 'failed' ? change.state : name}
          {name === 'Canary' && at === 'open' ? ' (optional)' : ''}
        </li>
      ))}
    </ol>
  );
}

function Evals({ change }: { change: ShownChange }) {
  const { run, passed, last } = change.evals;
  if (!run) return null;
  const failed = last.filter(({ status }) => status === 'failed');
  return (
    <Card flush={failed.length > 0} title="Tests" aside={<Tag tone={passed ? 'allow' : 'deny'} icon={passed ? 'check' : 'x'}>{passed ? `${many(last.length, 'file')} passed` : `${failed.length} of ${many(last.length, 'file')} failed`}</Tag>}>
      {failed.length === 0 ? (
        <p className={parts.dim}>All tests of the proposal pass on exactly this content.</p>
      ) : (
        failed.slice(0, 50).map((one) => (
          <div key={one.case} className={css.shift}>
            <code>{one.case}</code>
            {(one.problems ?? []).map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </div>
        ))
      )}
    </Card>
  );
}

function Reviews({ change }: { change: ShownChange }) {
  if (change.reviews.length === 0) return null;
  return (
    <Card flush title="Reviews">
      {change.reviews.map((review) => (
        <div key={review.by + review.at} className={css.shift}>
          <div>
            <Actor id={review.by} />
            <Tag tone={review.verdict === 'approve' ? 'allow' : 'deny'} icon={review.verdict === 'approve' ? 'check' : 'x'}>
              {review.verdict === 'approve' ? 'approved' : 'asked for changes'}
            </Tag>
          </div>
          <p>
            {review.note && <Said>«{review.note}» </Said>}
            <When at={review.at} />
            {review.token_revoked_at && (
              <>
                , with a token that was revoked <When at={review.token_revoked_at} />: somebody else may have given it
              </>
            )}
          </p>
        </div>
      ))}
    </Card>
  );
}

/** What it would have answered to the decisions of the log: replayed when somebody asks, as it takes long. */
function Replay({ change }: { change: ShownChange }) {
  const may = useMay('audit.head');
  const [isAsked, setAsked] = useState(false);
  const compared = useQuery({
    queryKey: [{ _id: 'changeImpact', id: change.id, hash: change.hash }],
    queryFn: async () => (await policyDiff({ body: { change: change.id, impact: true, semantic: false }, throwOnError: true })).data,
    enabled: isAsked,
    staleTime: 60_000,
    retry: false,
  });
  if (ENDED.has(change.state) || !may) return null;
  if (may.decision !== 'allow') return <NoImpact needs="audit.head" />;
  if (!isAsked) {
    return (
      <Card title="Impact" aside={<Button size="xs" variant="default" onClick={() => setAsked(true)}>Replay the log</Button>}>
        <p className={parts.dim}>Shows what each decision of the log would have been under this change.</p>
      </Card>
    );
  }
  return <Shown read={compared}>{({ impact }) => impact && <ImpactCard impact={impact} />}</Shown>;
}

function Canary({ change }: { change: ShownChange }) {
  const [cell, setCell] = useState<Cell>();
  const { canary } = change;
  if (!canary) return null;
  const isLive = change.state === 'canary';
  const samples = (canary.samples ?? []).filter(({ before, after }) => !cell || (before === cell.before && after === cell.after));
  return (
    <Card flush title="Canary" aside={<span className={parts.dim}>{`${canary.percent} % of decisions, ${isLive ? 'live' : 'ended'}`}</span>}>
      <div style={{ padding: 'var(--s-3) var(--s-4)' }}>
        {canary.matrix ? (
          <Seen matrix={canary.matrix} least={canary.min_decisions} isLive={isLive} cell={cell} pick={setCell} />
        ) : (
          <p>
            {isLive && `It must evaluate ${grouped(canary.min_decisions)} decisions. `}How many it has evaluated is shown to those who may read the audit.{isLive && UNAFFECTED}
          </p>
        )}
      </div>
      {samples.map((sample) => (
        <div key={sample.at + sample.operation + sample.actor} className={css.shift}>
          <div>
            <Actor id={sample.actor} /> <code>{sample.operation}</code> <span className={parts.dim}>{sample.target}</span>
            <Verdict decision={sample.before} /> → <Verdict decision={sample.after} />
          </div>
        </div>
      ))}
    </Card>
  );
}

const UNAFFECTED = ' Until it is promoted, it affects no answer.';

type Watched = { matrix: NonNullable<NonNullable<ShownChange['canary']>['matrix']>; least: number; isLive: boolean; cell: Cell | undefined; pick: (cell: Cell | undefined) => void };

function Seen({ matrix, least, isLive, cell, pick }: Watched) {
  const seen = seenIn(matrix);
  return (
    <>
      <p style={{ marginBottom: 8 }}>
        {isLive ? `${grouped(seen)} of at least ${grouped(least)} decisions evaluated.${UNAFFECTED}` : `${many(seen, 'decision')} evaluated.`}
      </p>
      {isLive && <Meter value={seen} of={least} label="decisions evaluated" />}
      <MatrixTable matrix={matrix} cell={cell} pick={pick} />
    </>
  );
}
