// Tasks and runs in words: what a run waits for, how long something took, what it cost.

import type { EventRecord, RunStatus, ShownRun, ShownStep, ShownTask, TaskStatus } from '../../api';
import { fieldsOf } from '../../parts/Sentence';
import { byTime, cents, grouped } from '../../parts/plain';

const OVER = new Set<string>(['completed', 'failed', 'timed_out', 'cancelled']);

export const isOver = (status: RunStatus | TaskStatus) => OVER.has(status);

/** The columns of the board, in the order in which a task goes through them. */
export const COLUMNS: { title: string; of: TaskStatus[] }[] = [
  { title: 'Open', of: ['open'] },
  { title: 'Assigned', of: ['assigned'] },
  { title: 'Running', of: ['running'] },
  { title: 'Waiting', of: ['waiting'] },
  { title: 'Closed', of: ['completed', 'failed', 'cancelled'] },
];

/** How a task stands that somebody works on, or will. */
export const UNDER_WAY = COLUMNS.filter(({ title }) => title !== 'Closed').flatMap(({ of }) => of);

/** What was spent of what may be. */
export const centsOf = (spent: number, budget: number): string => `${grouped(spent)} of ${cents(budget)}`;

/** Such as `340 ms`, `12 s`, `3 min`, `2 h 5 min`, `3 days`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** How a run stands: one that runs may wait for a time or for a part of it. */
export function standing(run: ShownRun): string {
  if (run.status !== 'running') return run.status;
  if (run.waiting?.kind === 'model') return 'waits for a model';
  if (run.waiting?.kind === 'rate_limit') return 'rests: a limit holds it';
  return run.waiting?.kind === 'run' ? 'waits for a part' : run.waiting?.kind === 'time' ? 'rests' : 'running';
}

/** Whether a task came of a question: then it has no title of its own. */
export const isAsk = ({ owner, title }: ShownTask) => !!owner && title === `asked of ${owner}`;

/** The first line of a text that says something. */
export const firstLine = (text: string) => text.trim().split('\n', 1)[0] ?? '';

/** Whether somebody is asked by a run and it waits for the answer. */
export const asks = (run: ShownRun, me: string | undefined) => run.status === 'waiting_input' && (run.waiting?.kind === 'question' || run.waiting?.kind === 'outcome') && !!me && run.waiting.to.includes(me);

/** A task of somebody's own that is not closed, and no agent's. */
export const isTodo = (task: ShownTask, me: string | undefined) => !!me && task.owner === me && !isOver(task.status);

const RANKS: Record<ShownTask['priority'], number> = { urgent: 0, high: 1, normal: 2, low: 3 };

/** What is wanted sooner comes first: what is not closed, by priority, by when it is due, then the newest. */
export function sooner(a: ShownTask, b: ShownTask): number {
  const closed = Number(isOver(a.status)) - Number(isOver(b.status));
  if (closed !== 0 || isOver(a.status)) return closed || byTime(b.closed_at ?? '', a.closed_at ?? '');
  return RANKS[a.priority] - RANKS[b.priority] || byTime(a.due_at ?? '9', b.due_at ?? '9') || byTime(b.created_at, a.created_at);
}

export const isOverdue = (task: ShownTask, now: Date) => !!task.due_at && !isOver(task.status) && new Date(task.due_at) < now;

/** How the log names the server. */
const SERVER = 'ok';

/** Of each step, the event that tells how it was decided. */
export function decisions(events: EventRecord[]): Map<number, EventRecord> {
  const of = new Map<number, EventRecord>();
  for (const record of events) {
    const { type, step } = fieldsOf(record);
    // What the server records of what came of it decides nothing.
    const isOutcome = record.actor === SERVER && typeof step === 'number' && of.has(step);
    if (typeof step === 'number' && /^(step_|run_waiting)/.test(type) && !isOutcome) of.set(step, record);
  }
  return of;
}

/** What a step did, after the name of the agent. */
export function did(step: ShownStep): string {
  switch (step.kind) {
    case 'say':
      return 'says';
    case 'model':
      return `asks the model ${step.name}`;
    case 'tool':
      return step.status === 'denied' ? 'may not' : step.status === 'failed' ? 'could not' : step.status === 'waiting' ? 'asks to' : 'calls';
    case 'question':
      return 'asks';
    case 'delegate':
      return 'has a part done by';
    case 'wait':
      return 'waits';
    default:
      return 'gives up';
  }
}

/** The text in what came of a step, where it is one. */
export function saidIn(output: unknown): string | undefined {
  if (typeof output === 'string') return output;
  if (typeof output !== 'object' || output === null) return undefined;
  const { text, answer, question } = output as Record<string, unknown>;
  const said = text ?? answer ?? question;
  return typeof said === 'string' ? said : undefined;
}

/** These tasks, and those of the others that are not among them. */
export function withOwned(tasks: ShownTask[], others: ShownTask[]): ShownTask[] {
  const known = new Set(tasks.map(({ id }) => id));
  return [...tasks, ...others.filter(({ id }) => !known.has(id))];
}
