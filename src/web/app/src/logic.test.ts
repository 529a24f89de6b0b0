// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest';
import type { EventRecord, ShownApproval, ShownChange } from './api';
import { EVENTS } from './api/events.gen';
import { happenedSince, touched } from './live';
import { applied, write, writes } from './pages/policy/draft';
import { keepUnsent, typedBy } from './parts/unsent';
import { missingFor } from './pages/policy/canary';
import { stepsOf } from './pages/policy/Change';
import { changes } from './pages/settings/Company';
import { layout } from './pages/people/layout';
import { refusedOperation, sentence } from './parts/states';
import { byName, folded, grouped } from './parts/plain';
import { ago, dayOf, stamp } from './parts/time';
import { waitsFor } from './shell/useMe';

describe('times', () => {
  const now = new Date('2026-11-22T12:00:00Z');
  const of = (seconds: number) => ago(new Date(now.getTime() + seconds * 1000), now);
  it('are as people say them', () => {
    expect([-3, -44, -60, -150, -3600, -90_000, -200_000].map(of)).toEqual(['just now', 'just now', '1 minute ago', '2 minutes ago', '1 hour ago', 'yesterday', '2 days ago']);
    expect([10, 3600, 86_400, 259_200].map(of)).toEqual(['in a moment', 'in 1 hour', 'tomorrow', 'in 3 days']);
    const days = (count: number) => of(count * 86_400);
    expect([59, 60, 433, -433, 729, 731, -1100, 3653].map(days)).toEqual(['in 59 days', 'in 2 months', 'in 14 months', '14 months ago', 'in 24 months', 'in 2 years', '3 years ago', 'in 10 years']);
  });
  it('are as long as they must be to be told apart', () => {
    const at = (...parts: [number, number, number, number, number]) => stamp(new Date(...parts), new Date(2026, 10, 22, 12));
    expect([at(2026, 10, 22, 9, 5), at(2026, 10, 1, 23, 59), at(2025, 0, 31, 0, 0)]).toEqual(['09:05', '1 Nov 23:59', '31 Jan 2025 00:00']);
    expect(dayOf(new Date(2026, 10, 22))).toBe('Sunday, 22 November');
  });
});

describe('numbers and names', () => {
  it('are grouped and sorted as people do it', () => {
    expect([0, 999, 1000, 12_345, 1_234_567].map(grouped)).toEqual(['0', '999', '1,000', '12,345', '1,234,567']);
    expect(['zoe', 'Ånn', 'ann', 'Ben'].toSorted((a, b) => byName(folded(a), folded(b)))).toEqual(['Ånn', 'ann', 'Ben', 'zoe']);
    const sorted = ['agent 10', 'agent 2', 'agent', 'agent 2b', 'agent 02', '7', 'v1.10.0', 'v1.9.3', 'agent 99999999999999999999', 'agent 100000000000000000000'].toSorted(byName);
    expect(sorted).toEqual(['7', 'agent', 'agent 02', 'agent 2', 'agent 2b', 'agent 10', 'agent 99999999999999999999', 'agent 100000000000000000000', 'v1.9.3', 'v1.10.0']);
  });
});

describe('an event', () => {
  it('makes stale what it touches', () => {
    expect(touched('approval_decided')).toContain('approval');
    expect(touched('kill_switch')).toContain('kill');
    expect(touched('policy_applied')).toContain('policy');
    expect(touched('nothing_like_it')).toEqual([]);
  });
  it('of any type makes something stale, unless no page shows what it changes', () => {
    const unshown = ['log_rekeyed', 'denied', 'access_decided', 'entities_changed', 'entity_kept', 'entity_removed', 'embedding_requested', 'question_embedded'];
    expect(Object.keys(EVENTS).filter((type) => touched(type).length === 0)).toEqual(unshown);
  });
  it('that came after the page began to read is news, and is so where the server does not say what time it is', () => {
    const events = ['11:59:56.900', '11:59:57.100', '12:00:00.200'].map((at) => ({ at: `2026-11-22T${at}Z` }) as EventRecord);
    expect(happenedSince(events, 'Sun, 22 Nov 2026 12:00:00 GMT', 2_000)).toEqual(events.slice(1));
    expect(happenedSince(events, null, 2_000)).toEqual(events);
  });
});

describe('settings', () => {
  const before = { name: 'Hill', timezone: 'UTC', hours: { from: '09:00', to: '17:00' }, retention_days: 0, approvals: { default_ttl_h: 72 }, decisions: { record: 'all' as const }, budget_cents_month: 500, vector_search: false };
  it('that stay are not sent, and a limit that goes is said', () => {
    expect(changes(before, { ...before, hours: { from: '09:00', to: '17:00' } })).toEqual({});
    expect(changes(before, { ...before, timezone: 'Europe/Berlin' })).toEqual({ timezone: 'Europe/Berlin' });
    expect(changes(before, { ...before, budget_cents_month: null })).toEqual({ no_budget: true, budget_cents_month: undefined });
  });
});

describe('a refusal', () => {
  it('is a sentence, and names its operation', () => {
    const message = 'policy denied audit.head: only admins and auditors read the audit';
    expect(sentence(new Error(message))).toBe('Only admins and auditors read the audit.');
    expect(refusedOperation(message)).toBe('audit.head');
  });
});

describe('who decides', () => {
  const approval = {
    status: 'pending',
    approvers: [
      { kind: 'platform', threshold: 1, held: ['pia'], any_of: ['pia', 'tom'] },
      { kind: 'security', threshold: 1, held: [], any_of: ['sam'] },
    ],
    decisions: [{ by: 'pia' }],
  } as unknown as ShownApproval;
  it('is who is named for what is not complete, and has not decided', () => {
    expect(['pia', 'tom', 'sam', undefined].map((id) => waitsFor(approval, id))).toEqual([false, false, true, false]);
    expect(waitsFor({ ...approval, status: 'used' }, 'sam')).toBe(false);
  });
});

describe('the way of a change', () => {
  const change = { state: 'proposed', evals: { run: false, passed: false, last: [] }, reviews: [], canary: null } as unknown as ShownChange;
  const names = (more: object) => stepsOf({ ...change, ...more } as ShownChange).map(([name, at]) => `${name} ${at}`);
  it('shows what comes next', () => {
    expect(names({})).toEqual(['Proposed done', 'Tests now', 'Review open', 'Canary open', 'In force open']);
    expect(names({ evals: { run: true, passed: true, last: [] } })).toContain('Review now');
    expect(names({ evals: { run: true, passed: false, last: [] } })).toContain('Tests failed');
  });
  it('goes on with its canary until that has seen enough', () => {
    const matrix = { allow: { allow: 3, needs_approval: 0, deny: 1 } };
    const running = { state: 'canary', canary: { min_decisions: 10, matrix } } as unknown as ShownChange;
    expect(names(running)).toEqual(expect.arrayContaining(['Canary now', 'In force open']));
    expect([missingFor(running), missingFor({ ...running, state: 'promoted' })]).toEqual([6, 0]);
  });
  it('ends', () => {
    expect(names({ state: 'withdrawn' })).toEqual(['Proposed done', 'In force failed']);
    expect(names({ state: 'promoted', evals: { run: true, passed: true, last: [] } })).toEqual(['Proposed done', 'Tests done', 'Review done', 'In force done']);
  });
});

describe('a draft', () => {
  it('adds, changes and deletes files', () => {
    const files = applied({ 'a.cedar': '1', 'b.cedar': '2' }, { base: 1, files: { 'a.cedar': null, 'b.cedar': '3', 'c.cedar': '4' } });
    expect(files).toEqual({ 'b.cedar': '3', 'c.cedar': '4' });
  });
});

describe('whose draft it is', () => {
  const kept = () => JSON.parse(sessionStorage.getItem('ok.draft') ?? 'null') as { files: Record<string, string> } | null;
  it('outlives a page and a sign-in of the same person, and no other’s', () => {
    writes('sam');
    write(1, 'a.cedar', 'of sam', 'in force');
    writes('sam');
    expect(kept()?.files).toEqual({ 'a.cedar': 'of sam' });
    writes('ben');
    expect(kept()?.files).toEqual({});
  });
});

it('what somebody has typed is gone from the tab once somebody else signs in', () => {
  const kept = () => Object.keys(JSON.parse(sessionStorage.getItem('ok.unsent') ?? '{}') as object);
  keepUnsent('sam note', 'of sam');
  typedBy('sam');
  expect(kept()).toEqual(['sam note']);
  typedBy('sa');
  expect(kept()).toEqual([]);
});

describe('the graph of delegations', () => {
  const edge = (from: string, to: string) => ({ id: `${from}-${to}`, from, to });
  it('stands from the left to the right', () => {
    const { nodes } = layout([edge('lea', 'max'), edge('max', 'scout'), edge('lea', 'scout')], 100, 40);
    const x = Object.fromEntries(nodes.map((node) => [node.id, node.x]));
    expect(x.lea).toBeLessThan(x.max ?? 0);
    expect(x.max).toBeLessThan(x.scout ?? 0);
  });
  it('ends with a circle in it', () => {
    expect(layout([edge('a', 'b'), edge('b', 'a')], 100, 40).nodes).toHaveLength(2);
  });
});
