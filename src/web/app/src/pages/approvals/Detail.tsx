import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { approvalExplainOptions, approvalReadOptions, type ExplainedApproval, type Needed, type ShownApproval } from '../../api';
import { effectOf } from '../../cedar/effect';
import { Actor } from '../../parts/Actor';
import { Copy } from '../../parts/Copy';
import { Icon } from '../../parts/icons';
import { Card, Facts } from '../../parts/Page';
import { Diff, Json, Policy } from '../../parts/PolicyText';
import { Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { Timed, When } from '../../parts/When';
import { usePending } from '../../shell/useMe';
import type { ApprovalSearch } from './which';
import css from './approvals.module.css';
import { Decide } from './Decide';
import { useSummary } from './useSummary';
import { inWords } from '../data/steps';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { entitle } from '../../parts/visible';

export function Detail() {
  const { id } = useParams({ from: '/approvals/$id' });
  const approval = useQuery({ ...approvalReadOptions({ path: { id } }), refetchInterval: 15_000 });
  const next = useNext(id);
  const explained = useQuery(approvalExplainOptions({ path: { id } }));
  // What decides comes first; what it rests on is drawn bit by bit, and keeps no key waiting.
  const steps = useSteps(3);
  const summary = useSummary();
  const title = approval.data ? summary(approval.data) : 'Approval';
  useEffect(() => {
    entitle(title);
  }, [title]);
  return (
    <div className={css.pad}>
      <Link to="/approvals" search={(before) => before as never} className={css.back}>
        <Icon name="back" /> Approvals
      </Link>
      {!approval.data && <h1 className={parts.vh}>Approval</h1>}
      <Shown read={approval}>
        {(data) => (
          <>
            <Head approval={data} />
            <Decide key={data.id} approval={data} next={next} />
            <div className={css.rest}>
              {steps > 0 && <Arguments approval={data} effect={explained.data?.effect} diff={explained.data?.diff} />}
              {steps > 1 && <About approval={data} of={explained.data?.about} />}
              {steps > 1 && <Who approval={data} />}
              {steps > 2 && <Shown read={explained}>{(answer) => <Explained explained={answer} />}</Shown>}
              {steps > 2 && <Bound approval={data} />}
            </div>
          </>
        )}
      </Shown>
    </div>
  );
}

/** Counts up to `most`; between two steps the page can be painted and takes keys. */
function useSteps(most: number): number {
  const [steps, setSteps] = useState(0);
  useEffect(() => {
    if (steps >= most) return undefined;
    const later = setTimeout(() => setSteps((before) => before + 1), 30);
    return () => clearTimeout(later);
  }, [steps, most]);
  return steps;
}

function Head({ approval }: { approval: ShownApproval }) {
  const summary = useSummary();
  return (
    <header className={css.head}>
      <h1>
        <Said>{summary(approval)}</Said>
      </h1>
      <div className={parts.meta}>
        <State state={approval.status} />
        <span>
          <Actor id={approval.actor} /> asked <When at={approval.created_at} />
        </span>
        {(approval.on_behalf_of ?? []).map((id) => (
          <span key={id}>
            on behalf of <Actor id={id} />
          </span>
        ))}
        {approval.run && (
          <Link to="/runs/$id" params={{ id: approval.run }}>
            in a run
          </Link>
        )}
        {approval.status === 'pending' && (
          <span>
            ends <When at={approval.expires_at} />
          </span>
        )}
        {approval.ended_at && (
          <span>
            ended <When at={approval.ended_at} />
          </span>
        )}
      </div>
      {approval.token_revoked_at && (
        <p role="note" className={parts.sentence}>
          The token that it was made with was revoked <When at={approval.token_revoked_at} />: if it was stolen, somebody else may have asked in this name.
          {approval.token_id && (
            <>
              {' '}
              <Link to="/log" search={{ token: approval.token_id }}>
                See what was done with it
              </Link>
              .
            </>
          )}
        </p>
      )}
      {approval.stale && <p>{approval.stale}</p>}
    </header>
  );
}

/** What it is about, where the call itself says no more than an id. */
function About({ approval, of }: { approval: ShownApproval; of: ExplainedApproval['about'] | undefined }) {
  const facts = (of ?? []).filter(({ what }) => what !== 'all of it');
  if (facts.length === 0) return null;
  return (
    <Card title="What it is about" aside={<Whole id={approval.resource} args={approval.args as Record<string, unknown> | undefined} />}>
      <Facts
        of={facts.map(({ what, said }): [string, React.ReactNode] => [
          what,
          what === 'steps' ? (
            <Steps key={what} of={said} />
          ) : what === 'diff' ? (
            <Diff key={what} text={said} />
          ) : (
            <Said key={what} className={css.given}>
              {said}
            </Said>
          ),
        ])}
      />
    </Card>
  );
}

/** The steps of a change of a collection: each in words, and exactly as it stands. */
function Steps({ of }: { of: string }) {
  return (
    <ol className={css.steps}>
      {of.split('\n').map((line) => (
        <li key={line}>
          <span>{inWords(line)}</span>
          <Said className={css.given}>{line}</Said>
        </li>
      ))}
    </ol>
  );
}

/** Where all of it is shown. */
function Whole({ id, args }: { id: string; args: Record<string, unknown> | undefined }) {
  const collection = args?.collection;
  if (id.startsWith('rec_') && typeof collection === 'string')
    return (
      <Link to="/data/$collection/$id" params={{ collection, id }}>
        The record and its versions
      </Link>
    );
  if (id.startsWith('chg_'))
    return (
      <Link to="/policy/changes/$id" params={{ id }}>
        What it changes
      </Link>
    );
  if (id.startsWith('run_'))
    return (
      <Link to="/runs/$id" params={{ id }}>
        The run
      </Link>
    );
  return null;
}

type Changed = ExplainedApproval['effect'][string];

/** A value as it is, or that it is not for the reader to see. */
function Value({ value, isWithheld = false }: { value: unknown; isWithheld?: boolean }) {
  if (isWithheld) return <em>not shown to you</em>;
  return <Said>{value === null || value === undefined ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value)}</Said>;
}

function Changes({ columns, of }: { columns: [string, string, string]; of: Record<string, Changed> | undefined }) {
  const changed = Object.entries(of ?? {});
  if (changed.length === 0) return null;
  const [, before, after] = columns;
  return (
    <div className={css.changes}>
      <Table columns={columns} cards>
        {changed.map(([name, { was, is, withheld }]) => (
          <tr key={name}>
            <td>{name}</td>
            <td data-label={before}>
              <Value value={was} isWithheld={withheld} />
            </td>
            <td data-label={after}>
              <strong>
                <Value value={is} />
              </strong>
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** Arguments that are YAML: their lines stand below each other as they were written. */
const CODE = new Set(['definition', 'plan']);

type Differences = { effect: ExplainedApproval['effect'] | undefined; diff: ExplainedApproval['diff'] | undefined };

/** Exactly what was asked: each argument as it was given, and what it would change where that is known. */
function Arguments({ approval, effect, diff }: { approval: ShownApproval } & Differences) {
  const args = (approval.args ?? {}) as Record<string, unknown>;
  return (
    <Card title="What exactly">
      <Facts
        of={[
          ['operation', <code key="op">{approval.action}</code>],
          ['about', <code key="about">{approval.resource}</code>],
          ...Object.entries(args).map(([name, value]): [string, React.ReactNode] => [name, typeof value === 'string' ? <Said key={name} className={css.given} data-code={CODE.has(name) || undefined}>{value}</Said> : <Json key={name} value={value} />]),
          ...(approval.withheld ?? []).map((name): [string, React.ReactNode] => [name, <em key={name}>{name in args ? 'not all of it is shown to you' : 'not shown to you'}</em>]),
        ]}
      />
      <Changes columns={['would change', 'now', 'then']} of={effect} />
      <Changes columns={['changed since then', 'was', 'is']} of={diff} />
    </Card>
  );
}

function Need({ need, approval }: { need: Needed; approval: ShownApproval }) {
  const isDone = need.held.length >= need.threshold;
  return (
    <div className={css.need} data-done={isDone || undefined}>
      <Icon name={isDone ? 'check' : 'clock'} />
      <div>
        <strong>{need.kind}</strong>
        <div className={css.people}>
          {isDone || approval.status !== 'pending' ? need.held.map((id) => <Actor key={id} id={id} />) : need.any_of.map((id) => <Actor key={id} id={id} />)}
        </div>
      </div>
      <span className={parts.dim}>
        {need.held.length} of {need.threshold}
      </span>
    </div>
  );
}

function Who({ approval }: { approval: ShownApproval }) {
  return (
    <Card title="Who decides">
      {approval.approvers.map((need) => (
        <Need key={need.kind} need={need} approval={approval} />
      ))}
      {approval.decisions.map((decision) => (
        <div key={decision.by + decision.kind} className={css.need} data-done={decision.decision === 'approve' || undefined}>
          <Icon name={decision.decision === 'approve' ? 'check' : 'x'} />
          <div>
            <Actor id={decision.by} /> {decision.decision === 'approve' ? 'approved' : 'rejected'} for {decision.kind}
            {decision.note && (
              <div>
                «<Said>{decision.note}</Said>»
              </div>
            )}
            {decision.token_revoked_at && <div>with a token that was revoked <When at={decision.token_revoked_at} />: it may have been another</div>}
          </div>
          <span className={parts.dim}>
            <When at={decision.at} />
          </span>
        </div>
      ))}
    </Card>
  );
}

/** The policies are those that would decide now. With its approvals, or under other policies, they are not those for which it waited. */
const NOW: Record<string, string> = { allow: 'By now, this would permit it:', deny: 'By now, this would refuse it:' };

function Explained({ explained }: { explained: ExplainedApproval }) {
  return (
    <>
      <Card title="Why it waits">
        <div className={parts.stack}>
          <p>{explained.reason}</p>
          {explained.anew && (
            <p>
              Asked anew:{' '}
              <Link to="/approvals/$id" params={{ id: explained.anew.approval }}>
                an earlier request
              </Link>{' '}
              became stale (<Said>{explained.anew.why}</Said>).
            </p>
          )}
          <Changes columns={['changed between', 'was', 'is']} of={explained.anew?.changed} />
          {explained.because.length > 0 && explained.decision !== 'needs_approval' && <p>{NOW[explained.decision]}</p>}
          {explained.because.map((policy) => (
            <Policy key={policy.policy} policy={{ ...policy, id: policy.policy, effect: effectOf(policy.text) }} />
          ))}
        </div>
      </Card>
      <Card title="What happens then">
        <div className={css.outcomes}>
          <Icon name="check" style={{ color: 'var(--allow-line)' }} />
          <p><Timed>{explained.what_happens.on_approve}</Timed></p>
          <Icon name="x" style={{ color: 'var(--deny-line)' }} />
          <p><Timed>{explained.what_happens.on_reject}</Timed></p>
          <Icon name="clock" style={{ color: 'var(--wait-line)' }} />
          <p><Timed>{explained.what_happens.on_expiry}</Timed></p>
        </div>
      </Card>
      {explained.similar.length > 0 && (
        <Card title="Similar ones before" flush>
          <table className={parts.table}>
            <tbody>
              {explained.similar.map((one) => (
                <tr key={one.approval}>
                  <td>
                    <Link to="/approvals/$id" params={{ id: one.approval }}>
                      <Said>{one.summary}</Said>
                    </Link>
                  </td>
                  <td>
                    <State state={one.decision} />
                  </td>
                  <td className={parts.dim}>
                    <When at={one.at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      )}
    </>
  );
}

function Bound({ approval }: { approval: ShownApproval }) {
  return (
    <p className={parts.dim}>
      An approval is good for exactly this call, once. <code>{approval.id}</code> <Copy text={approval.id} what="the id" /> digest <code>{approval.digest.slice(0, 16)}…</code> <Copy text={approval.digest} what="the digest" />
    </p>
  );
}

/** Goes on to the next one that waits for the same person, or back to the list. */
function useNext(id: string) {
  const navigate = useNavigate();
  const list = usePending().data ?? [];
  const at = list.findIndex((approval) => approval.id === id);
  const next = list[at + 1] ?? list[at - 1];
  return () => {
    const search = (before: ApprovalSearch) => before;
    if (next) void navigate({ to: '/approvals/$id', params: { id: next.id }, search: search as never });
    else void navigate({ to: '/approvals', search: search as never });
  };
}
