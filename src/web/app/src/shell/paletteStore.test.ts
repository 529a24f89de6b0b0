import { createSpotlight } from '@mantine/spotlight';
import { expect, test } from 'vitest';
import { chooseFirst, isOver, openPalette, paletteStore, query } from './paletteStore';

function listed(inside: string) {
  const [store] = createSpotlight();
  store.updateState((state) => ({ ...state, listId: 'list' }));
  document.body.innerHTML = `<div id="list">${inside}</div>`;
  chooseFirst(store);
  return { chosen: [...document.querySelectorAll('[data-selected]')].map(({ id }) => id), selected: store.getState().selected };
}

test('the first that is found is chosen, so that Enter opens it', () => {
  expect(listed('<button data-action id="a"></button><button data-action id="b"></button>')).toEqual({ chosen: ['a'], selected: 0 });
});

test('what is chosen already stays so', () => {
  expect(listed('<button data-action id="a"></button><button data-action data-selected id="b"></button>')).toEqual({ chosen: ['b'], selected: -1 });
});

test('of nothing nothing is chosen', () => {
  document.body.innerHTML = '';
  expect(() => chooseFirst()).not.toThrow();
});

test('a field that does not yet show what was kept for it gets no key by itself', () => {
  document.body.innerHTML = '<input data-palette value="ki">';
  document.querySelector('input')?.focus();
  paletteStore.updateState((state) => ({ ...state, query: 'kio' }));
  expect(isOver()).toBe(false);
  paletteStore.updateState((state) => ({ ...state, query: 'ki' }));
  expect(isOver()).toBe(true);
});

test('whoever shows what is looked for is told of each key that is kept', () => {
  document.body.innerHTML = '';
  paletteStore.updateState((state) => ({ ...state, query: '' }));
  const seen: string[] = [];
  const stop = paletteStore.subscribe(() => void seen.push(query()));
  openPalette();
  for (const key of ['k', 'i']) window.dispatchEvent(new KeyboardEvent('keydown', { key }));
  stop();
  expect(seen).toEqual(['k', 'ki']);
});
