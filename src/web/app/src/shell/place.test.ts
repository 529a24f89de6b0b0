import { expect, it } from 'vitest';
import { placeOf } from './place';

it('knows where ids and the numbers of events lead', () => {
  expect(placeOf(' 300 ')).toEqual({ label: 'Event 300', to: '/log/300' });
  expect(placeOf('chg_01M8F95W58BFFF0245MPQTNJ46')?.to).toBe('/policy/changes/chg_01M8F95W58BFFF0245MPQTNJ46');
  expect(['', '0', 'chg_01M8', 'xyz_01M8F95W58BFFF0245MPQTNJ46', 'tom'].map(placeOf)).toEqual(Array(5).fill(undefined));
});
