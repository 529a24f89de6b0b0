import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons';
import css from './parts.module.css';

export type Tone = 'allow' | 'wait' | 'deny' | 'accent' | 'plain';

const DECISIONS: Record<string, [Tone, IconName, string]> = {
  allow: ['allow', 'check', 'allowed'],
  needs_approval: ['wait', 'clock', 'needs approval'],
  deny: ['deny', 'x', 'denied'],
  system: ['plain', 'settings', 'server'],
};

const STATES: Record<string, Tone> = {
  pending: 'wait',
  approved: 'allow',
  used: 'allow',
  rejected: 'deny',
  stale: 'plain',
  cancelled: 'plain',
  expired: 'plain',
  proposed: 'accent',
  in_review: 'wait',
  canary: 'wait',
  promoted: 'allow',
  accepted: 'allow',
  quarantined: 'wait',
  active: 'allow',
  ready: 'allow',
  'no key': 'deny',
  offboarded: 'plain',
  failing: 'deny',
  disabled: 'plain',
  revoked: 'plain',
  exhausted: 'wait',
  delivered: 'allow',
  given_up: 'deny',
  passed: 'allow',
  failed: 'deny',
  assigned: 'accent',
  running: 'accent',
  waiting: 'wait',
  waiting_approval: 'wait',
  waiting_input: 'wait',
  held: 'wait',
  'waits for a part': 'accent',
  rests: 'accent',
  completed: 'allow',
  timed_out: 'deny',
  denied: 'deny',
};

/** What the gate said: by colour, by sign and in words. */
export function Verdict({ decision, children }: { decision: string; children?: ReactNode }) {
  const [tone, icon, word] = DECISIONS[decision] ?? ['plain', 'help', decision];
  return (
    <span className={css.verdict} data-tone={tone}>
      <Icon name={icon} size={12} strokeWidth={2.6} />
      {children ?? word}
    </span>
  );
}

const WORDS: Record<string, string> = { used: 'approved, carried out', waiting_approval: 'waits for approval', waiting_input: 'waits for an answer' };

/** The state of a thing: `pending`, `promoted`, `failing`. */
export function State({ state }: { state: string }) {
  const word = WORDS[state] ?? state.replaceAll('_', ' ');
  return <Tag tone={STATES[state] ?? 'plain'}>{word}</Tag>;
}

export function Tag({ tone = 'plain', icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) {
  return (
    <span className={css.verdict} data-tone={tone} data-plain={icon ? undefined : ''}>
      {icon && <Icon name={icon} size={12} strokeWidth={2.4} />}
      {children}
    </span>
  );
}
