// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { entitle, visible } from './visible';

test('what steers a text is written out, and its lines stay', () => {
  expect(visible('Pay \u202eevil\u001b[31mred\n\tnext\u200b')).toBe('Pay \\u{202e}evil\\u{1b}[31mred\n\tnext\\u{200b}');
  expect(visible('ä🙂 العربية 👩‍👩‍👧')).toBe('ä🙂 العربية 👩‍👩‍👧');
});

test('the browser’s own frame shows nothing that steers it', () => {
  entitle('Pay \u202eevil');
  expect(document.title).toBe('Pay \\u{202e}evil · ok');
});
