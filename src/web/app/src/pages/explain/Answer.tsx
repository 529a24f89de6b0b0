import { Button, CopyButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Explained, ShownPolicy } from '../../api';
import { Actor } from '../../parts/Actor';
import { Icon, type IconName } from '../../parts/icons';
import { Policy, type Marks } from '../../parts/PolicyText';
import { sentence } from '../../parts/states';
import { Tag, Verdict } from '../../parts/Verdict';
import { exact } from '../../parts/time';
import { useMe } from '../../shell/useMe';
import css from './explain.module.css';
import { whereDone } from './where';

const SEALS: Record<string, [IconName, string]> = { allow: ['check', 'may'], deny: ['x', 'may not'], needs_approval: ['clock', 'may, with approval,'] };

/** Whoever may do it with approval is shown the way to ask: to do it is to ask for it. */
function AskForIt({ answer }: { answer: Explained }) {
  const me = useMe();
  const path = whereDone(answer.operation, answer.target);
  const isOpen = answer.decision === 'needs_approval' && answer.approvals.every((need) => !need.request);
  if (answer.actor !== me?.id || !path || !isOpen) return null;
  return (
    <p className={css.askFor}>
      <Button component={Link} to={path} variant="default" leftSection={<Icon name="clock" size={14} />}>
        Ask for it
      </Button>
      Do it there: the call waits until those above have decided, and is carried out then.
    </p>
  );
}

/** The answer as a tree: what decided it, what nearly did, and what would change it. */
export function Answer({ answer }: { answer: Explained }) {
  const [icon, may] = SEALS[answer.decision] ?? ['help', answer.decision];
  const changes = answer.what_would_change.slice(0, 6);
  // Left out where there is no delegation, whatever the document says.
  const links = answer.on_behalf_of ?? [];
  const notGiven = answer.not_given ?? [];
  return (
    <section aria-label="answer">
      <div className={css.hero} data-decision={answer.decision}>
        <span className={css.seal} data-decision={answer.decision}>
          <Icon name={icon} size={24} strokeWidth={2.6} />
        </span>
        <div>
          <h2>
            <Actor id={answer.actor} avatar={false} /> {may} <code>{answer.operation}</code>
            {answer.target !== 'company' && (
              <>
                {' '}
                on <code>{answer.target}</code>
              </>
            )}
          </h2>
          <p>
            {sentence(new Error(answer.reason))} Version {answer.policy.version} of the policies, {exact(new Date(answer.at))}.
          </p>
        </div>
        <CopyButton value={window.location.href}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy} leftSection={<Icon name={copied ? 'check' : 'link'} size={14} />}>
              {copied ? 'Copied' : 'Copy link'}
            </Button>
          )}
        </CopyButton>
      </div>
      {notGiven.length > 0 && (
        <Node title="Without its input" icon="help">
          <p>
            Policies look at{' '}
            {notGiven.map((name, at) => (
              <span key={name}>
                {at > 0 && ' and '}
                <code>{name}</code>
              </span>
            ))}
            , which the question leaves out: a call with {notGiven.length > 1 ? 'them' : 'it'} may be answered otherwise.
          </p>
        </Node>
      )}
      {answer.kill.length > 0 && (
        <Node title="A kill switch stops it" icon="power">
          <p>
            {answer.kill.map((scope) => (
              <Tag key={scope} tone="deny" icon="power">
                {scope}
              </Tag>
            ))}{' '}
            <Link to="/kill">Kill switches</Link>
          </p>
        </Node>
      )}
      {answer.because.length > 0 && (
        <Node title={answer.decision === 'allow' ? 'Because of' : 'These stand in the way'} icon="policy" aside="what applied is marked green">
          {answer.because.map((policy) => (
            <Decisive key={policy.id} policy={policy} />
          ))}
        </Node>
      )}
      {answer.approvals.length > 0 && (
        <Node title="What it takes" icon="clock">
          <div className={css.options}>
            {answer.approvals.map((need) => (
              <div key={need.kind} className={css.option}>
                <Tag tone={need.held.length >= need.threshold ? 'allow' : 'wait'} icon={need.held.length >= need.threshold ? 'check' : 'clock'}>
                  {need.kind} {need.held.length}/{need.threshold}
                </Tag>
                <div className={css.needs}>
                  {need.who_may_decide.length === 0 ? 'nobody could give it' : need.who_may_decide.slice(0, 12).map((id) => <Actor key={id} id={id} />)}
                </div>
                {need.request && (
                  <Link to="/approvals/$id" params={{ id: need.request }}>
                    asked for already
                  </Link>
                )}
              </div>
            ))}
          </div>
          <AskForIt answer={answer} />
        </Node>
      )}
      {links.length > 0 && (
        <Node title="On whose behalf" icon="people">
          {links.map((link) => (
            <div key={link.delegation} className={css.option}>
              <Actor id={link.from} /> <Verdict decision={link.decision} /> {link.reason}
            </div>
          ))}
        </Node>
      )}
      {answer.near_misses.length > 0 && (
        <Node title="Nearly permitted by" icon="policy" aside="what failed is marked red">
          {answer.near_misses.map((policy) => (
            <Missed key={policy.id} policy={policy} />
          ))}
        </Node>
      )}
      {changes.length > 0 && (
        <Node title="What would change it" icon="right" aside={changes.length > 1 ? 'any one of these' : undefined}>
          <div className={css.options}>
            {changes.map((all) => (
              <div key={all.map(({ text }) => text).join()} className={css.option}>
                {all.map(({ text }) => (
                  <span key={text}>
                    <Ticked text={text} />
                  </span>
                ))}
              </div>
            ))}
          </div>
        </Node>
      )}
      {answer.limits.length > 0 && (
        <Node title="Limits" icon="clock">
          <div className={css.options}>
            {answer.limits.map((limit) => (
              <div key={limit.id} className={css.option}>
                <code>{limit.id}</code> {limit.left} of {limit.most} left in {limit.seconds} seconds
              </div>
            ))}
          </div>
        </Node>
      )}
    </section>
  );
}

/** A sentence of the server, in which backticks hold names. */
function Ticked({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

function Node({ title, icon, aside, children }: { title: string; icon: IconName; aside?: string; children: ReactNode }) {
  return (
    <div className={css.tree}>
      <div className={css.node}>
        <header>
          <Icon name={icon} />
          <h2>{title}</h2>
          {aside && <span>{aside}</span>}
        </header>
        {children}
      </div>
    </div>
  );
}

const Decisive = ({ policy }: { policy: ShownPolicy }) => <Policy policy={policy} marks={marked(policy)} />;

const marked = (policy: ShownPolicy): Marks => {
  const marks: Marks = new Map();
  for (const { line, state } of policy.observed ?? []) {
    if (state === 'fail' || (state === 'ok' && marks.get(line) !== 'fail')) marks.set(line, state);
  }
  return marks;
};

/** A policy that would have permitted it, with what failed and what it read there. */
function Missed({ policy }: { policy: ShownPolicy }) {
  const failed = (policy.observed ?? []).filter(({ state }) => state === 'fail');
  return (
    <Policy policy={policy} marks={marked(policy)}>
      {failed.length > 0 && (
        <div className={css.parts}>
          {failed.map((part) => (
            <div key={part.line + part.text} className={css.part} data-state={part.state}>
              <Icon name="x" size={14} strokeWidth={2.6} />
              <div>
                <code>{part.text}</code> must be {part.wanted ? 'true' : 'false'}
                {part.observed.map((seen) => (
                  <small key={seen.what}>
                    <code>{seen.what}</code> is <code>{written(seen.value)}</code>
                  </small>
                ))}
              </div>
            </div>
          ))}
        </div>
      )}
    </Policy>
  );
}

/** A value as Cedar writes it. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value === 'object' && value !== null && 'type' in value && 'id' in value) return `${String(value.type)}::"${String(value.id)}"`;
  return JSON.stringify(value);
}
