import { expect, test } from 'vitest';
import { inWords, isFinal, step } from './steps';

test('each step of a proposal says what it does to which field', () => {
  const sentences = [
    step({ retire_field: { name: 'iban' } }),
    step({ rename_field: { name: 'status', to: 'state' } }),
    step({ retype_field: { name: 'place', type: 'choice', options: ['north', 'south'] } }),
    step({ merge_field: { name: 'city', into: 'place' } }),
    step({ alter_field: { name: 'total', field: { label: null, max: '10', options: ['a', 'b'], required: true } } }),
    step({ alter: { smallest_group: 5 } }),
    step({ index: { name: 'due', on: true } }),
    step({ retire: {} }),
  ];
  expect(sentences).toEqual(['retire the field iban, with its values', 'rename status to state', 'make place a choice of north, south', 'merge city into place: city goes', 'of total: label none, max 10, options a or b, required yes', 'of the collection: smallest group 5', 'index due', 'retire the collection']);
  expect([isFinal({ retire_field: { name: 'iban' } }), isFinal({ index: { name: 'due', on: true } })]).toEqual([true, false]);
});

test('a step that is written as JSON is told, too', () => {
  expect([inWords('{"index":{"name":"due","on":true}}'), inWords('due')]).toEqual(['index due', '']);
});
