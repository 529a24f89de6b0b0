import { expect, test } from 'vitest';
import type { ShownApproval } from '../api';
import { waitingFor } from './Waits';

const asked = (id: string, status: string, action: string, resource: string) => ({ id, status, action, resource }) as ShownApproval;

test('what waits is found by what is to be done to what, as long as it is not decided', () => {
  const all = [asked('apr_1', 'rejected', 'schema.apply', 'sch_1'), asked('apr_2', 'pending', 'schema.reject', 'sch_1'), asked('apr_3', 'pending', 'schema.apply', 'sch_2'), asked('apr_4', 'pending', 'schema.apply', 'sch_1')];
  expect(waitingFor(all, 'schema.apply', 'sch_1')).toBe('apr_4');
  expect(waitingFor(all, 'schema.apply', 'sch_3')).toBeUndefined();
  expect(waitingFor(undefined, 'schema.apply', 'sch_1')).toBeUndefined();
});
