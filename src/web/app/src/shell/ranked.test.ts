import { expect, it } from 'vitest';
import { ranked } from './ranked';

const groups = [
  { group: 'Pages', actions: [{ id: 'people', label: 'People', description: 'who is here' }] },
  { group: 'Waits', actions: [{ id: 'apr', label: 'ivy offboards kai and hands on to tom', description: 'apr_01M8' }] },
  { group: 'Data', actions: [{ id: 'customers', label: 'Customers', description: 'the collection customers' }] },
  { group: 'People', actions: [{ id: 'tommy', label: 'Tommy Lee', description: 'lee, member' }, { id: 'tom', label: 'Tom Okafor', description: 'tom, member' }] },
];
const ids = (typed: string) => ranked(typed, groups).flatMap(({ actions }) => actions.map(({ id }) => id));

it('puts who has the id first, then names that begin so, then words, then parts', () => {
  expect(ids('tom')).toEqual(['tom', 'tommy', 'apr', 'customers']);
  expect(ids(' APR_01M8 ')).toEqual(['apr']);
  expect(ids('collection')).toEqual(['customers']);
  expect(ids('nobody')).toEqual([]);
  expect(ids('tom offboard')).toEqual(['apr']);
  expect(ids('tom nobody')).toEqual([]);
});

it('leaves all as it is before anything is typed', () => {
  expect(ids('')).toEqual(['people', 'apr', 'customers', 'tommy', 'tom']);
});
