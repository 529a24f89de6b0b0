import { Link } from '@tanstack/react-router';
import { eventListOptions, type EventRecord, type ShownStep, type WholeRun } from '../../api';
import { Actor } from '../../parts/Actor';
import { useGuarded } from '../../parts/guard';
import { Icon, type IconName } from '../../parts/icons';
import { Card } from '../../parts/Page';
import { Json } from '../../parts/PolicyText';
import { Empty } from '../../parts/states';
import { When } from '../../parts/When';
import { decisions, did, isOver, saidIn, span } from './words';
import css from './work.module.css';
import { Said } from '../../parts/Said';
import { cents, grouped } from '../../parts/plain';

const ICONS: Record<ShownStep['kind'], IconName> = { say: 'chat', model: 'spark', tool: 'wrench', question: 'help', delegate: 'branch', wait: 'clock', fail: 'x' };
const TONES: Record<ShownStep['status'], string> = { due: 'accent', decided: 'accent', dispatched: 'accent', waiting: 'wait', completed: 'allow', denied: 'deny', failed: 'deny', unknown: 'wait' };

/** What a run has done, one step after the other. */
export function Steps({ run }: { run: WholeRun }) {
  const events = useGuarded('event.list', eventListOptions({ query: { run: run.id, limit: 1000 } }));
  const decided = decisions(events.data?.events ?? []);
  return (
    <Card flush title="Steps">
      {run.trace.length === 0 ? (
        <Empty icon="bot" title={isOver(run.status) ? 'It ended before its first step' : 'It is about to begin'} />
      ) : (
        <ol className={css.steps}>
          {run.trace.map((step) => (
            <Step key={step.seq} step={step} run={run} decided={decided.get(step.seq)} />
          ))}
          {run.status === 'running' && !run.waiting && (
            <li className={css.step} data-busy>
              <span className={css.dot} />
              <span>at work…</span>
            </li>
          )}
        </ol>
      )}
    </Card>
  );
}

const isGiven = (input: unknown) => typeof input === 'object' && input !== null && Object.keys(input).length > 0;

function Step({ step, run, decided }: { step: ShownStep; run: WholeRun; decided?: EventRecord }) {
  const said = saidIn(step.output);
  return (
    <li className={css.step}>
      <span className={css.dot} data-tone={TONES[step.status]}>
        <Icon name={ICONS[step.kind]} size={14} strokeWidth={2.2} />
      </span>
      <div className={css.stepBody}>
        <div className={css.stepHead}>
          <span>
            {did(step)} <Named step={step} />
          </span>
          <span className={css.figures}>
            {step.cost_cents > 0 && <b>{cents(step.cost_cents)}</b>}
            {step.tokens.input + step.tokens.output > 0 && <span>{grouped(step.tokens.input + step.tokens.output)} tokens</span>}
            {typeof step.duration_ms === 'number' && step.duration_ms >= 1_000 && <span>{span(step.duration_ms)}</span>}
            <When at={step.started_at} as="stamp" />
          </span>
        </div>
        {step.question && step.status !== 'waiting' && (
          <p className={css.question}>
            «<Said>{step.question}</Said>»
          </p>
        )}
        {said !== undefined && (
          <p className={css.said}>
            <Said>{said}</Said>
          </p>
        )}
        {step.reason && <p className={css.reason}>{step.reason.replace(/^policy denied [a-z_.]+: /, '')}</p>}
        <Why step={step} run={run} decided={decided} />
        {isGiven(step.input) && (
          <details className={css.output}>
            <summary>What it was given</summary>
            <Json value={step.input} />
          </details>
        )}
        {said === undefined && step.output !== null && step.output !== undefined && (
          <details className={css.output}>
            <summary>What came of it</summary>
            <Json value={step.output} />
          </details>
        )}
      </div>
    </li>
  );
}

function Named({ step }: { step: ShownStep }) {
  if (step.kind === 'delegate') {
    return (
      <>
        <Actor id={step.name} avatar={false} />{' '}
        {step.target.startsWith('run_') && (
          <Link to="/runs/$id" params={{ id: step.target }}>
            see the part
          </Link>
        )}
      </>
    );
  }
  if (step.kind === 'question') return <Actor id={step.target || step.name} avatar={false} />;
  if (step.kind !== 'tool') return null;
  return (
    <>
      <code>{step.name}</code> {step.target && <Target id={step.target} />}
    </>
  );
}

/** What a call was about, with a way to it where it has a page. */
function Target({ id }: { id: string }) {
  if (id.startsWith('tsk_')) {
    return (
      <Link to="/tasks/$id" params={{ id }}>
        a task
      </Link>
    );
  }
  if (/^(company|Ok::)/.test(id)) return null;
  return /^[a-z]{3}_[0-9A-Z]{26}$/.test(id) ? <code>{id.slice(0, 12)}…</code> : <Actor id={id} avatar={false} />;
}

/** What a step is asked about again: with what it was given, which says what it is about, or else by its target. */
const about = (step: ShownStep) => (isGiven(step.input) ? { input: JSON.stringify(step.input) } : { target: step.target || undefined });

/** By which policies the gate decided, in the log, and what it would answer now. */
function Why({ step, run, decided }: { step: ShownStep; run: WholeRun; decided?: EventRecord }) {
  if (step.kind !== 'tool' && step.kind !== 'model') return null;
  const policies = decided?.policies ?? [];
  const word = step.status === 'denied' ? 'refused by' : step.status === 'waiting' ? 'waits because of' : 'allowed by';
  const reasons = [
    policies.length > 0 && (
      <span key="policies">
        {word} <code>{policies.join(', ')}</code>
      </span>
    ),
    decided && (
      <Link key="event" to="/log/$seq" params={{ seq: String(decided.seq) }}>
        event {decided.seq}
      </Link>
    ),
    // As its run stands now; whoever sees no policies is told none.
    !isOver(run.status) && step.kind === 'tool' && policies.length > 0 && (
      <Link key="why" to="/explain" search={{ actor: run.agent, op: step.name, run: run.id, ...about(step) }}>
        may it now?
      </Link>
    ),
  ];
  return <p className={css.why}>{reasons}</p>;
}
