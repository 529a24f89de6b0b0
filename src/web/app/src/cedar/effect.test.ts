import { expect, test } from 'vitest';
import { effectOf } from './effect';

test.each([
  ['permit (principal, action, resource);', 'permit'],
  ['// forbid what is not known\n@id("forbid-nothing")\n@reason("forbid (it)")\npermit (\n  principal, action, resource);', 'permit'],
  ['@id("a")\nforbid (principal, action, resource)\nunless { context.permit };', 'forbid'],
  ['', undefined],
  [null, undefined],
])('%j: %s', (text, effect) => {
  expect(effectOf(text)).toBe(effect);
});
