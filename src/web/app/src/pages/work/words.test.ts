import { describe, expect, test } from 'vitest';
import type { EventRecord, ShownRun, ShownTask } from '../../api';
import { cents } from '../../parts/plain';
import { asks, centsOf, decisions, firstLine, isAsk, isOverdue, saidIn, sooner, span, standing, withOwned } from './words';

const task = (more: Partial<ShownTask>): ShownTask => ({ id: 'tsk', title: 't', status: 'assigned', owner: 'max', created_by: 'ana', priority: 'normal', version: 1, created_at: '2026-01-01T00:00:00Z', due_at: null, sla: null, stalled: false, parent: null, updated_at: '2026-01-01T00:00:00Z', closed_at: null, archived_at: null, ...more });

test('lengths of time are told in the largest fitting unit', () => {
  expect([340, 12_400, 90_000, 7_500_000, 7_200_000, 260_000_000].map(span)).toEqual(['340 ms', '12 s', '2 min', '2 h 5 min', '2 h', '3 days']);
});

test('amounts are told in cents', () => {
  expect([0, 7, 99, 100, 123_456].map(cents)).toEqual(['0 ct', '7 ct', '99 ct', '100 ct', '123,456 ct']);
  expect([centsOf(7, 50), centsOf(7, 150), centsOf(1_250, 123_456)]).toEqual(['7 of 50 ct', '7 of 150 ct', '1,250 of 123,456 ct']);
});

test('what is wanted sooner comes first', () => {
  const list = [
    task({ id: 'old' }),
    task({ id: 'new', created_at: '2026-02-01T00:00:00Z' }),
    task({ id: 'due', due_at: '2026-03-01T00:00:00Z' }),
    task({ id: 'urgent', priority: 'urgent' }),
    task({ id: 'done', priority: 'urgent', status: 'completed', closed_at: '2026-03-01T00:00:00Z' }),
    task({ id: 'low', priority: 'low', due_at: '2026-01-02T00:00:00Z' }),
  ];
  expect(list.sort(sooner).map(({ id }) => id)).toEqual(['urgent', 'due', 'new', 'old', 'low', 'done']);
});

test('times are compared, however many places they have', () => {
  const list = ['18:38:59Z', '18:38:59.4Z', '18:38:59.455Z', '18:38:59.46Z'].map((at) => task({ id: at, created_at: `2026-01-01T${at}` }));
  expect(list.toReversed().sort(sooner).map(({ id }) => id)).toEqual(list.map(({ id }) => id).toReversed());
});

test('one’s own tasks are among those that are shown, however old', () => {
  expect(withOwned([task({ id: 'new' }), task({ id: 'both' })], [task({ id: 'both' }), task({ id: 'old' })]).map(({ id }) => id)).toEqual(['new', 'both', 'old']);
});

test('a task is overdue only as long as it is not closed', () => {
  const now = new Date('2026-02-01T00:00:00Z');
  expect([task({ due_at: '2026-01-05T00:00:00Z' }), task({ due_at: '2026-01-05T00:00:00Z', status: 'completed' }), task({ due_at: '2026-03-05T00:00:00Z' }), task({})].map((one) => isOverdue(one, now))).toEqual([true, false, false, false]);
});

test('a run asks whom it names, and only while it waits', () => {
  const run = { status: 'waiting_input', waiting: { kind: 'question', to: ['max'] } } as unknown as ShownRun;
  const outcome = { status: 'waiting_input', waiting: { kind: 'outcome', to: ['max'], until: '2026-11-27T00:00:00Z' } } as unknown as ShownRun;
  expect([asks(outcome, 'max'), asks(outcome, 'mia')]).toEqual([true, false]);
  expect([asks(run, 'max'), asks(run, 'mia'), asks(run, undefined), asks({ ...run, status: 'held' }, 'max')]).toEqual([true, false, false, false]);
});

test('a run that runs may wait all the same', () => {
  const run = (status: string, kind?: string) => ({ status, waiting: kind ? { kind } : null }) as unknown as ShownRun;
  expect([run('running'), run('running', 'time'), run('running', 'run'), run('held', 'budget'), run('running', 'model')].map(standing)).toEqual(['running', 'rests', 'waits for a part', 'held', 'waits for a model']);
});

test('a task that came of a question is called by whom it was asked of', () => {
  expect([task({ title: 'asked of max' }), task({ title: 'asked of mia' })].map(isAsk)).toEqual([true, false]);
  expect([firstLine('\n Who is here?\nTell me.'), firstLine('')]).toEqual(['Who is here?', '']);
});

describe('of each step', () => {
  const event = (seq: number, type: string, step?: number): EventRecord => ({ seq, at: '', actor: 'bot', decision: 'allow', event: { type, ...(step === undefined ? {} : { step }) } });
  test('the last event that tells of it counts', () => {
    const found = decisions([event(1, 'run_started'), event(2, 'run_waiting', 1), event(3, 'step_completed', 1), event(4, 'content_kept', 2)]);
    expect([...found].map(([step, { seq }]) => [step, seq])).toEqual([[1, 3]]);
  });
  test('what the server records of what came of it does not count', () => {
    const came = { ...event(2, 'step_completed', 1), actor: 'ok' };
    expect([...decisions([event(1, 'step_dispatched', 1), came])].map(([step, { seq }]) => [step, seq])).toEqual([[1, 1]]);
    expect([...decisions([came])].map(([step, { seq }]) => [step, seq])).toEqual([[1, 2]]);
  });
  test('what was said is found wherever it stands', () => {
    expect([saidIn('a'), saidIn({ text: 'b' }), saidIn({ answer: 'c' }), saidIn({ id: 1 }), saidIn(null), saidIn(7)]).toEqual(['a', 'b', 'c', undefined, undefined, undefined]);
  });
});
