// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { isTyping, leaveField } from './typing';

window.addEventListener('keydown', leaveField, true);

test.each([
  ['<textarea data-field></textarea>', 'Escape', true],
  ['<input data-field>', 'Escape', true],
  ['<input data-field>', 'a', false],
  ['<input data-field aria-expanded="true">', 'Escape', false],
  ['<div role="dialog"><input data-field></div>', 'Escape', false],
])('%s is left by %s: %s', (html, key, left) => {
  document.body.innerHTML = html;
  const field = document.querySelector<HTMLElement>('[data-field]');
  field?.focus();
  field?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  expect(document.activeElement !== field).toBe(left);
});

test.each([
  ['<input data-field>', 'j', true],
  ['<textarea data-field></textarea>', 'j', true],
  ['<input type="radio" data-field>', 'j', false],
  ['<input type="radio" data-field>', 'ArrowLeft', true],
  ['<input type="checkbox" data-field>', 'g', false],
  ['<input type="checkbox" data-field>', ' ', true],
  ['<input readonly role="combobox" aria-expanded="false" data-field>', 'j', false],
  ['<input readonly role="combobox" aria-expanded="true" data-field>', 'j', true],
  ['<input role="combobox" aria-expanded="false" data-field>', 'j', true],
  ['<div role="dialog"><input type="radio" data-field></div>', 'j', true],
  ['<button data-field></button>', 'j', false],
])('in %s, %s is text: %s', (html, key, is) => {
  document.body.innerHTML = html;
  const event = new KeyboardEvent('keydown', { key, bubbles: true });
  document.querySelector('[data-field]')?.dispatchEvent(event);
  expect(isTyping(event)).toBe(is);
});
