import { expect, it } from 'vitest';
import type { EventRecord } from '../../api';
import { aroundOf, keyOf, keysOf, rowsOf, stepped, toggled, type Group } from './groups';

const log = (decisions: string) => [...decisions].map((one, at) => ({ seq: 100 - at, decision: one === 's' ? 'system' : 'allow' }) as EventRecord);
const rows = (decisions: string, opened: number[] = [], known: number[] = []) =>
  rowsOf(log(decisions), new Set(opened), new Set(known)).map((row) => ('record' in row ? row.record.seq : `${row.events.length} from ${row.key}`));

it('puts three and more of the server’s events in a row into one', () => {
  expect(rows('asssassas')).toEqual([100, '3 from 97', 96, 95, 94, 93, 92]);
  expect(rows('ssss')).toEqual(['4 from 97']);
  expect(rows('')).toEqual([]);
});

it('shows each of them in a group that was opened, which stays open as it grows at both ends', () => {
  expect(rows('asssa', [99, 98, 97])).toEqual([100, '3 from 97', 99, 98, 97, 96]);
  expect(rows('sssss', [99, 98, 97])).toEqual(['5 from 96', 100, 99, 98, 97, 96]);
});

it('keeps the key of a group that grows at both ends', () => {
  const known = keysOf(rowsOf(log('asssa'), new Set(), new Set()), new Set([7]));
  expect([...known]).toEqual([7, 97]);
  expect(rows('sssss', [], [...known])).toEqual(['5 from 97']);
  expect(keysOf(rowsOf(log('sssss'), new Set(), known), known)).toBe(known);
});

it('closes a group with all that it has grown by', () => {
  const [group] = rowsOf(log('sssss'), new Set([99, 98]), new Set());
  expect([...toggled(new Set([99, 98, 7]), group as Group)]).toEqual([7]);
  expect([...toggled(new Set([7]), { ...(group as Group), isOpen: false })]).toEqual([7, 100, 99, 98, 97, 96]);
});

it('knows the open group that an event is in', () => {
  const list = rowsOf(log('asssasss'), new Set([95, 94, 93]), new Set());
  expect(aroundOf(list, '94')?.key).toBe(93);
  expect(aroundOf(list, '98')).toBeUndefined();
  expect(aroundOf(list, '100')).toBeUndefined();
});

it('steps over rows as they are seen', () => {
  const list = rowsOf(log('asssasss'), new Set([95, 94, 93]), new Set());
  const walk = (marked: ReturnType<typeof keyOf>, seq: string | undefined, by: 1 | -1) => keyOf(stepped(list, marked, seq, by));
  expect(list.map(keyOf)).toEqual([100, 'group 97', 96, 'group 93', 95, 94, 93]);
  expect(walk(undefined, undefined, 1)).toBe(100);
  expect(walk(undefined, '100', 1)).toBe('group 97');
  expect(walk('group 97', '100', 1)).toBe(96);
  expect(walk('group 97', '100', -1)).toBe(100);
  // What is open stands in a closed group.
  expect(walk(undefined, '98', 1)).toBe(96);
  expect(walk('group 93', '96', 1)).toBe(95);
  expect(walk(undefined, '95', 1)).toBe(94);
  expect(walk(undefined, '100', -1)).toBe(100);
  expect(walk(undefined, '93', 1)).toBeUndefined();
});
