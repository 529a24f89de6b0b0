import { expect, test } from 'vitest';
import { sharedNames } from './Actor';

test('a name that several have, or that is the id of another, is shared', () => {
  const of = (...actors: [string, string][]) => [...sharedNames(actors.map(([id, name]) => ({ id, name })))];
  expect(of(['ben', 'Ben Adler'], ['lea', 'Lea Wood'], ['kim', 'kim'])).toEqual([]);
  expect(of(['ben', 'Ben Adler'], ['lea', 'ben  adler '])).toEqual(['ben adler']);
  expect(of(['lea', 'The server'])).toEqual(['the server']);
  expect(of(['ben', 'Ben Adler'], ['lea', 'ben'])).toEqual(['ben']);
});
