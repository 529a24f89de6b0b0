import type { ShownChange } from '../../api';

type Matrix = NonNullable<NonNullable<ShownChange['canary']>['matrix']>;

/** How many decisions a canary has seen. */
export const seenIn = (matrix: Matrix): number => Object.values(matrix).flatMap((row) => Object.values(row)).reduce((sum, count) => sum + count, 0);

/** How many a change has to see yet before it may come into force, as far as the reader may know. */
export function missingFor({ state, canary }: ShownChange): number {
  if (state !== 'canary' || !canary?.matrix) return 0;
  return Math.max(0, canary.min_decisions - seenIn(canary.matrix));
}
