import { expect, test } from 'vitest';
import { Pointer } from './strays';

const HERE = { x: 300, y: 200 };

/** Goes to the first and clicks it; the second is under the pointer after 200 ms. */
function clicked() {
  const pointer = new Pointer();
  pointer.isOver({ on: null, at: 0, x: 10, y: 10 });
  pointer.isOver({ on: 'first', at: 900, ...HERE });
  expect(pointer.counts({ on: 'first', at: 1_000, ...HERE }, 1)).toBe(true);
  pointer.isOver({ on: 'second', at: 1_200, x: HERE.x + 1, y: HERE.y });
  return pointer;
}

test.each([300, 400, 600, 850])('a second click after %i ms is not for what has come there since', (after) => {
  expect(clicked().counts({ on: 'second', at: 1_000 + after, ...HERE }, 1)).toBe(false);
});

test('a click counts once there was time to see what it is for', () => {
  expect(clicked().counts({ on: 'second', at: 2_000, ...HERE }, 1)).toBe(true);
});

test('a slow double click is one still, and so are more clicks in a row', () => {
  expect(clicked().counts({ on: 'second', at: 2_000, ...HERE }, 2)).toBe(false);
  expect(clicked().counts({ on: 'first', at: 1_150, ...HERE }, 2)).toBe(false);
  const pointer = clicked();
  for (const at of [1_400, 1_800, 2_400, 3_200]) expect(pointer.counts({ on: 'second', at, ...HERE }, 1)).toBe(at > 3_000);
});

test('who goes to another button clicks it as quickly as they like', () => {
  const pointer = clicked();
  pointer.isOver({ on: 'other', at: 1_300, x: 500, y: 200 });
  expect(pointer.counts({ on: 'other', at: 1_310, x: 500, y: 200 }, 1)).toBe(true);
});

test('a finger, which is nowhere before, hits what the first tap hit', () => {
  const pointer = new Pointer();
  expect(pointer.counts({ on: 'first', at: 0, ...HERE }, 1)).toBe(true);
  expect(pointer.counts({ on: 'second', at: 400, x: HERE.x + 6, y: HERE.y + 6 }, 1)).toBe(false);
});

test('what somebody else’s doing has put under a pointer that rests takes no click at once', () => {
  const pointer = new Pointer();
  pointer.isOver({ on: 'first', at: 0, ...HERE });
  pointer.isOver({ on: 'second', at: 5_000, ...HERE });
  expect(pointer.counts({ on: 'second', at: 5_300, ...HERE }, 1)).toBe(false);
  expect(pointer.counts({ on: 'second', at: 6_100, ...HERE }, 1)).toBe(true);
});
