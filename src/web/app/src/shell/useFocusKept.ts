// Whoever works by keyboard, or listens to the page, goes on from where they were.

import { useEffect, useRef } from 'react';

/** Dialogs and lists that close give the focus back themselves, within this many milliseconds. */
const GIVEN_BACK_MS = 300;

/** A page that takes another's place takes the focus too, where that went with what was left. */
export function useFocusKept(page: string, id: string) {
  const before = useRef(page);
  useEffect(() => {
    if (before.current === page) return;
    before.current = page;
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) document.getElementById(id)?.focus({ preventScroll: true });
    }, GIVEN_BACK_MS);
    return () => clearTimeout(timer);
  }, [page, id]);
}
