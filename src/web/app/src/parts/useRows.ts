import { useLayoutEffect, useState, type RefObject } from 'react';

/** So many rows more are drawn at either end than are seen. */
const BEYOND = 12;
/** What is taken for the height of a list before it is drawn. */
const FIRST = 900;

/** The rows of one height that are seen, from the first up to, and not including, the end. */
export function seen(count: number, height: number, scrolled: number, room: number): { first: number; end: number } {
  const first = Math.max(0, Math.floor(scrolled / height) - BEYOND);
  const end = Math.min(count, Math.ceil((scrolled + room) / height) + BEYOND);
  return { first: Math.min(first, Math.max(0, end - 1)), end };
}

/** Which rows of a long list are to be drawn inside of what scrolls it. */
export function useRows(scroll: RefObject<HTMLElement | null>, count: number, height: number): number[] {
  const [view, setView] = useState({ scrolled: 0, room: FIRST });
  useLayoutEffect(() => {
    const box = scroll.current;
    if (!box) return;
    // It is drawn anew where a row comes or goes, and not for each step that it is scrolled by.
    const look = () =>
      setView((before) => {
        const now = { scrolled: Math.floor(box.scrollTop / height) * height, room: box.clientHeight };
        return now.scrolled === before.scrolled && now.room === before.room ? before : now;
      });
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, [scroll, height]);
  const { first, end } = seen(count, height, view.scrolled, view.room);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}
