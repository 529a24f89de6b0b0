import { expect, it } from 'vitest';
import { Refused } from '../api';
import { wrongFields } from './act';

const refused = (...problems: string[]) => new Refused(422, 'invalid', problems[0] ?? '', problems);

it('a problem is told at the field that it begins with', () => {
  expect(wrongFields(refused('name: must not be empty', 'hours.from: must be a time'), ['name', 'hours'])).toEqual({ wrong: { name: 'must not be empty', hours: 'must be a time' }, isAll: true });
  expect(wrongFields(refused('name: too long', 'size: too large'), ['name'])).toEqual({ wrong: { name: 'too long' }, isAll: false });
  expect(wrongFields(new Refused(422, 'invalid', 'name: too long'), ['name']).isAll).toBe(true);
  for (const other of [new Refused(403, 'denied', 'name: x'), new Error('name: x'), refused('nothing of a field')]) expect(wrongFields(other, ['name'])).toEqual({ wrong: {}, isAll: false });
});
