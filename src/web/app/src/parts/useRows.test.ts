import { describe, expect, it } from 'vitest';
import { seen } from './useRows';

describe('the rows of a long list', () => {
  it('are drawn as far as they are seen, and a little beyond', () => {
    expect(seen(1_000, 50, 0, 500)).toEqual({ first: 0, end: 22 });
    expect(seen(1_000, 50, 5_000, 500)).toEqual({ first: 88, end: 122 });
  });
  it('end with the list', () => {
    expect(seen(1_000, 50, 49_500, 500)).toEqual({ first: 978, end: 1_000 });
    expect(seen(0, 50, 0, 500)).toEqual({ first: 0, end: 0 });
  });
  it('are never none of a list that has become shorter than it is scrolled', () => {
    expect(seen(3, 50, 5_000, 500)).toEqual({ first: 2, end: 3 });
  });
});
