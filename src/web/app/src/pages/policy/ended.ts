import type { ShownChange } from '../../api';

/** The states in which nothing more is done with a change. */
export const ENDED = new Set<ShownChange['state']>(['promoted', 'rolled_back', 'rejected', 'superseded', 'withdrawn']);
