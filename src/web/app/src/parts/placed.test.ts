import { describe, expect, it } from 'vitest';
import { placed } from './placed';

const room = { width: 400, height: 300 };
const size = { width: 100, height: 40 };

describe('a box beside another', () => {
  it('stands in the middle on the side that is asked for', () => {
    const about = { left: 150, top: 100, width: 60, height: 30 };
    expect(placed(about, size, room, 'above')).toEqual({ left: 130, top: 54 });
    expect(placed(about, size, room, 'below')).toEqual({ left: 130, top: 136 });
  });
  it('stands on the other side where there is no room', () => {
    expect(placed({ left: 150, top: 10, width: 60, height: 30 }, size, room, 'above').top).toBe(46);
    expect(placed({ left: 150, top: 250, width: 60, height: 30 }, size, room, 'below').top).toBe(204);
  });
  it('stays inside of the window', () => {
    expect(placed({ left: 0, top: 100, width: 20, height: 20 }, size, room, 'below').left).toBe(6);
    expect(placed({ left: 390, top: 100, width: 10, height: 20 }, size, room, 'below').left).toBe(294);
  });
});
