// Whoever works by keyboard, or listens to the page, goes on from where they were.

import { useEffect, useRef } from 'react';

/** A dialog that closes gives the focus back, or loses it, within this many milliseconds. */
const GIVEN_BACK_MS = 2_000;
const EVERY_MS = 100;

/** A page that takes another's place takes the focus too, where that went with what was left. */
export function useFocusKept(page: string, id: string) {
  const before = useRef(page);
  useEffect(() => {
    if (before.current === page) return;
    before.current = page;
    const until = Date.now() + GIVEN_BACK_MS;
    const timer = setInterval(() => {
      const isLost = document.activeElement === document.body;
      if (isLost) document.getElementById(id)?.focus({ preventScroll: true });
      if (isLost || Date.now() > until) clearInterval(timer);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [page, id]);
}
