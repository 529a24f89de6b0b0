// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest';
import { afterKey, openPalette, palette, paletteIsThere, paletteStore, query } from './paletteStore';

const plain = { ctrlKey: false, metaKey: false, altKey: false };
const pressed: string[] = [];
document.addEventListener('keydown', ({ key }) => pressed.push(key));

function press(key: string, more: KeyboardEventInit = {}, on: Element = document.body) {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  on.dispatchEvent(event);
  return event.defaultPrevented;
}

function type(text: string) {
  for (const key of text) press(key);
}

let gone = () => {};

/** The palette is loaded, and its field gets the keys. */
function arrive() {
  gone = paletteIsThere();
  document.body.innerHTML = '<input data-palette>';
}

afterEach(() => {
  press('Escape');
  gone();
  palette.close();
  paletteStore.updateState((state) => ({ ...state, query: '' }));
  document.body.innerHTML = '';
  pressed.length = 0;
  vi.restoreAllMocks();
});

test('what is typed before the palette is there becomes what it looks for, and nothing else', () => {
  openPalette();
  type('a r gq');
  press('Backspace');
  expect(press('Enter')).toBe(true);
  expect(press('r', { ctrlKey: true })).toBe(false);
  arrive();
  expect(paletteStore.getState().opened).toBe(true);
  type('x');
  expect(query()).toBe('a r gx');
  expect(pressed).toEqual([]);
});

test('once its field has the keys they are left to it', () => {
  openPalette();
  arrive();
  const field = document.querySelector('input') as HTMLInputElement;
  field.focus();
  expect(press('a', {}, field)).toBe(false);
  expect(query()).toBe('');
  expect(pressed).toEqual(['a']);
});

test.each([
  ['Escape', () => press('Escape')],
  ['a press elsewhere', () => document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }))],
])('%s gives up', (_, end) => {
  openPalette();
  type('ab');
  end();
  arrive();
  expect(paletteStore.getState()).toMatchObject({ opened: false, query: '' });
  type('j');
  expect(pressed).toEqual(['j']);
});

test('a palette that was closed again takes no keys', () => {
  arrive();
  openPalette();
  palette.close();
  type('j');
  expect(pressed).toEqual(['j']);
});

test.each([
  ['b', {}, 'ab'],
  ['B', {}, 'aB'],
  ['😀', {}, 'a😀'],
  ['Shift', {}, undefined],
  ['F5', {}, undefined],
  ['v', { ctrlKey: true }, undefined],
  ['k', { ctrlKey: true }, 'a'],
  ['@', { ctrlKey: true, altKey: true, getModifierState: () => true }, 'a@'],
])('after %s %o', (key, more, text) => {
  expect(afterKey('a', { ...plain, key, ...more })).toBe(text);
});
