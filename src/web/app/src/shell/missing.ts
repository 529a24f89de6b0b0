// A part of the workspace that could not be loaded: a browser asks for it once, and for good, so only loading the page again helps.

import { useSyncExternalStore } from 'react';

let isMissing = false;
const listeners = new Set<() => void>();

export function miss() {
  isMissing = true;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useMissing = () => useSyncExternalStore(subscribe, () => isMissing);
