import { expect, test } from 'vitest';
import { whereDone } from './where';

test('what may be asked for has a page to do it on', () => {
  expect(whereDone('actor.trust', 'scribe')).toBe('/people/scribe');
  expect(whereDone('actor.add', 'team:ops')).toBe('/people');
  expect(whereDone('actor.offboard', 'team:ops')).toBe('/people/team%3Aops');
  expect(whereDone('change.promote', 'chg_1')).toBe('/policy/changes/chg_1');
  expect(whereDone('actor.offboard', 'company')).toBeUndefined();
  expect(whereDone('tick', 'company')).toBeUndefined();
});
