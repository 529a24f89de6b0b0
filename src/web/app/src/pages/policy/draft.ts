// What somebody is writing: the files that differ from those in force. It survives a reload of the page, in this tab.

import { useSyncExternalStore } from 'react';

export type Draft = { base: number; files: Record<string, string | null>; by?: string };

const KEY = 'ok.draft';
const NONE: Draft = { base: 0, files: {} };

/** Whoever is signed in: what somebody else wrote in this tab is not theirs to see. */
let writer: string | undefined;

let draft: Draft = read();
const listeners = new Set<() => void>();

function read(): Draft {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(KEY) ?? 'null') as Draft | null;
    return kept && typeof kept.base === 'number' && typeof kept.files === 'object' ? kept : NONE;
  } catch {
    return NONE;
  }
}

function set(next: Draft) {
  draft = next === NONE ? NONE : { ...next, by: writer };
  try {
    window.sessionStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    // A draft that is too large to be kept lives until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** Somebody has signed in: the draft of another is gone. */
export function writes(me: string) {
  writer = me;
  if (draft.by !== undefined && draft.by !== me) set(NONE);
}

/** Writes a file of the draft; one that is as in force again is no longer part of it. `null` deletes it. */
export function write(base: number, path: string, text: string | null, inForce: string | undefined) {
  const others = Object.fromEntries(Object.entries(draft.files).filter(([name]) => name !== path));
  const isSame = text === null ? inForce === undefined : text === inForce;
  const files = isSame ? others : { ...others, [path]: text };
  set({ base: Object.keys(files).length === 0 ? 0 : draft.base || base, files });
}

/** Throws the draft away. What is returned brings it back. */
export function discard() {
  const before = draft;
  set(NONE);
  return () => set(before);
}

/** The files as they would be. */
export function applied(inForce: Record<string, string>, { files }: Draft): Record<string, string> {
  const all: Record<string, string> = { ...inForce };
  for (const [path, text] of Object.entries(files)) {
    if (text === null) Reflect.deleteProperty(all, path);
    else all[path] = text;
  }
  return all;
}

export function useDraft(): Draft {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => draft,
  );
}
