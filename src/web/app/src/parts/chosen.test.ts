import { expect, it } from 'vitest';
import { chosenIn } from './chosen';

it('calls what is chosen by its label', () => {
  const data = ['one', { value: '2', label: 'two' }, { group: 'more', items: [{ value: '3', label: 'three' }, 'four'] }];
  expect(['one', '2', '3', 'four'].map((value) => chosenIn(data, value))).toEqual(['one', 'two', 'three', 'four']);
  expect([chosenIn(data, null), chosenIn(data, 'five'), chosenIn(undefined, 'one')]).toEqual(['', '', '']);
});
