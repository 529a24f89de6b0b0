// @vitest-environment happy-dom
import { createSpotlight } from '@mantine/spotlight';
import { expect, test, vi } from 'vitest';
import { chooseFirst, enter, isOver, openEntered, openPalette, paletteStore, query } from './paletteStore';

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

const found = '<button data-action id="a"></button>';

function entering(query: string) {
  const [store] = createSpotlight();
  store.updateState((state) => ({ ...state, listId: 'list', query }));
  document.body.innerHTML = '<div id="list"></div>';
  const opened = vi.fn();
  const list = document.getElementById('list') as HTMLElement;
  list.addEventListener('click', opened);
  enter(store);
  return { store, list, opened };
}

test('Enter before anything is found opens what is found for these words', () => {
  const { store, list, opened } = entering('kiosk');
  openEntered(true, store);
  list.innerHTML = found;
  openEntered(true, store);
  openEntered(false, store);
  expect(opened).toHaveBeenCalledOnce();
});

test('who types on after Enter has not asked for what is found then', () => {
  const { store, list, opened } = entering('kiosk');
  store.updateState((state) => ({ ...state, query: 'kiosk p' }));
  openEntered(true, store);
  list.innerHTML = found;
  store.updateState((state) => ({ ...state, query: 'kiosk' }));
  openEntered(false, store);
  expect(opened).not.toHaveBeenCalled();
});

test('Enter where nothing is found opens nothing later', () => {
  const { store, list, opened } = entering('kiosk');
  openEntered(false, store);
  list.innerHTML = found;
  openEntered(false, store);
  expect(opened).not.toHaveBeenCalled();
});

test('Enter before the list is there is for what is listed then', () => {
  const { store, list, opened } = entering('kiosk');
  list.remove();
  openEntered(false, store);
  document.body.append(list);
  list.innerHTML = found;
  openEntered(false, store);
  expect(opened).toHaveBeenCalledOnce();
});
