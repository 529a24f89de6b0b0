import { expect, test } from 'vitest';
import { whereIs } from './hit';

test('each kind of hit leads to the page that shows it', () => {
  expect(whereIs({ kind: 'record', collection: 'invoices', id: 'rec_1' })).toEqual({ to: '/data/$collection/$id', params: { collection: 'invoices', id: 'rec_1' } });
  expect(whereIs({ kind: 'knowledge', collection: null, id: 'kno_1' })).toEqual({ to: '/data', hash: 'kno_1' });
  expect(whereIs({ kind: 'task', collection: null, id: 'tsk_1' })).toEqual({ to: '/tasks/$id', params: { id: 'tsk_1' } });
});
