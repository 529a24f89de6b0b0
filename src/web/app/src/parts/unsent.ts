// What somebody has typed and not sent: it is there again when they come back to it, though they loaded the page anew or signed in
// again meanwhile. It is kept by person, in this tab alone, as a draft of policies is.

import { useSyncExternalStore } from 'react';
import { useMe } from '../shell/useMe';

const KEY = 'ok.unsent';

type Texts = Record<string, string>;

function read(): Texts {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(KEY) ?? 'null') as Texts | null;
    return kept && typeof kept === 'object' ? kept : {};
  } catch {
    return {};
  }
}

let unsent: Texts = read();
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keep(next: Texts) {
  unsent = next;
  try {
    if (Object.keys(next).length > 0) window.sessionStorage.setItem(KEY, JSON.stringify(next));
    else window.sessionStorage.removeItem(KEY);
  } catch {
    // What is too large to be kept lives until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** Whoever signs out leaves nothing in the tab. */
export const forgetUnsent = () => keep({});

const only = (wanted: (key: string) => boolean): Texts => Object.fromEntries(Object.entries(unsent).filter(([key]) => wanted(key)));

/** Somebody has signed in: what others typed in this tab is not theirs to see. */
export function typedBy(me: string) {
  const mine = only((key) => key.startsWith(`${me} `));
  if (Object.keys(mine).length < Object.keys(unsent).length) keep(mine);
}

/** Keeps what is typed under a key, which begins with whoever types it; nothing, once it is sent. */
export function keepUnsent(key: string, text: string) {
  const others = only((other) => other !== key);
  keep(text === '' ? others : { ...others, [key]: text });
}

/** A text that is written for `what`. */
export function useUnsent(what: string): [text: string, write: (text: string) => void] {
  const key = `${useMe()?.id} ${what}`;
  const text = useSyncExternalStore(subscribe, () => unsent[key] ?? '');
  return [text, (next) => keepUnsent(key, next)];
}
