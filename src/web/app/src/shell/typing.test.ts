// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { leaveField } from './typing';

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
