// What somebody has typed and not sent: it is there again when they come back to it, though they signed in anew meanwhile. It is kept
// by person, and in this page's memory alone.

import { useState } from 'react';
import { useMe } from '../shell/useMe';

const unsent = new Map<string, string>();

/** A text that is written for `what`. */
export function useUnsent(what: string): [text: string, write: (text: string) => void] {
  const key = `${useMe()?.id} ${what}`;
  const [written, setWritten] = useState<{ key: string; text: string }>();
  const write = (text: string) => {
    if (text === '') unsent.delete(key);
    else unsent.set(key, text);
    setWritten({ key, text });
  };
  return [written?.key === key ? written.text : (unsent.get(key) ?? ''), write];
}
