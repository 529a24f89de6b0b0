import { expect, it } from 'vitest';
import { chosenIn, offered } from './chosen';

it('calls what is chosen by its label', () => {
  const data = ['one', { value: '2', label: 'two' }, { group: 'more', items: [{ value: '3', label: 'three' }, 'four'] }];
  expect(['one', '2', '3', 'four'].map((value) => chosenIn(data, value))).toEqual(['one', 'two', 'three', 'four']);
  expect([chosenIn(data, null), chosenIn(data, 'five'), chosenIn(undefined, 'one')]).toEqual(['', '', '']);
});

it('offers what was typed with accents or without', () => {
  const options = ['Émile', 'Emil', 'Ana'].map((label) => ({ value: label, label }));
  const found = (search: string, limit = 10) => offered({ options, search, limit }).map((one) => 'label' in one && one.label);
  expect([found('emil'), found('Émil'), found(' ana '), found(''), found('e', 1)]).toEqual([['Émile', 'Emil'], ['Émile', 'Emil'], ['Ana'], ['Émile', 'Emil', 'Ana'], ['Émile']]);
});

it('a zone is found by its city, as people write it', () => {
  const options = [{ value: 'America/New_York', label: 'America/New_York' }];
  expect(offered({ options, search: 'new york', limit: 5 })).toEqual(options);
});
