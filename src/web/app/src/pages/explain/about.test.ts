import { expect, test } from 'vitest';
import { Refused } from '../../api';
import { entryOf, missingTarget } from './about';

const refused = (problem: string) => new Refused(422, 'invalid', problem, [problem]);

test('what an operation must be about is told by what is entered', () => {
  expect(missingTarget(refused('target: kill needs a target: KillSwitch'))).toEqual(['KillSwitch']);
  expect(missingTarget(refused('target: actor.trust needs a target: Actor or BreakGlass'))?.map(entryOf)).toEqual(['the id of an actor', 'the id of a break glass']);
  expect(missingTarget(refused('at: is no time'))).toBeUndefined();
  expect(missingTarget(undefined)).toBeUndefined();
  expect(entryOf('KillSwitch')).toContain('actor:kai');
});
