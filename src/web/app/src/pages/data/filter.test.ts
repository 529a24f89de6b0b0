import { expect, test } from 'vitest';
import type { Field } from '../../api';
import { columnsOf, figureField, filterOf, hiddenOf, isWord, lengths, turned } from './filter';

const fields: Record<string, Field> = { note: { type: 'long_text' }, total: { type: 'money' }, number: { type: 'text' }, count: { type: 'integer' }, paid: { type: 'flag' } };

test('an address asks for a filter once it says which field and which value', () => {
  expect(filterOf({}, fields)).toBeUndefined();
  expect(filterOf({ field: 'number' }, fields)).toBeUndefined();
  expect(filterOf({ field: 'nothing', value: 'x' }, fields)).toBeUndefined();
  expect(filterOf({ field: 'number', value: '7' }, fields)).toEqual({ number: { contains: '7' } });
  expect(filterOf({ field: 'total', op: 'lte', value: '9.50' }, fields)).toEqual({ total: { lte: '9.50' } });
  expect(filterOf({ field: 'total', op: 'contains', value: '9' }, fields)).toEqual({ total: { gte: '9' } });
  expect(filterOf({ field: 'count', value: '12' }, fields)).toEqual({ count: { gte: 12 } });
  expect(filterOf({ field: 'paid', value: 'true' }, fields)).toEqual({ paid: { eq: true } });
});

test('a table begins with the key and ends with what is long', () => {
  expect(columnsOf(['number'], fields, ['total'])).toEqual(['number', 'count', 'paid', 'note']);
});

test('columns that are withheld are named as people call them, where somebody would see them', () => {
  const of = { fields: { ...fields, total: { ...fields.total, type: 'money' as const, title: 'Total' } }, withheld: ['total', 'paid'] };
  expect(hiddenOf(of)).toEqual(['Total', 'paid']);
  expect(hiddenOf(of, ['number', 'paid'])).toEqual(['paid']);
  expect(hiddenOf(of, ['number'])).toEqual([]);
});

test('a column is sorted up, down, and no more', () => {
  expect([turned(undefined, 'a'), turned('a', 'a'), turned('-a', 'a'), turned('b', 'a')]).toEqual(['a', '-a', undefined, 'a']);
});

test('signs alone are no word', () => {
  expect(['', ' ', '🙂', '"', 'a', 'é', '7'].map(isWord)).toEqual([false, false, false, false, true, true, true]);
});

test('a figure reads as its field, and a count as a number', () => {
  const semantics = {
    metrics: [{ name: 'open', agg: 'sum' as const, field: 'total', unit: 'EUR' }, { name: 'many', agg: 'count' as const }],
    dimensions: [{ name: 'month', field: 'due', grain: 'month' as const }],
    entities: [],
    synonyms: [],
    withheld: [],
  };
  const of = { fields, semantics };
  expect(['sum:total', 'open', 'many', 'status', 'month'].map((name) => figureField(name, of)?.type)).toEqual(['money', 'money', undefined, undefined, undefined]);
  expect(figureField('open', of)?.unit).toBe('EUR');
});

test('the longest bar is whole, and nothing has none', () => {
  expect(lengths(['10.00', '5.00', null, '-3'])).toEqual([100, 50, 0, 0]);
  expect(lengths([])).toEqual([]);
});
