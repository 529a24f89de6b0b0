import { serverIsThere } from '../there';
import { miss } from './missing';

/** A page stands for so long before what it can do without for now is loaded. */
const STANDS_MS = 1_500;
const BEGINS = ['pointermove', 'pointerdown', 'keydown'];

const pause = () => new Promise<unknown>((resolve) => ('requestIdleCallback' in window ? requestIdleCallback(resolve, { timeout: 2_000 }) : setTimeout(resolve, 200)));

/** Once the page has stood for a while; at once when somebody begins to use it. */
const settled = () =>
  new Promise<unknown>((resolve) => {
    setTimeout(resolve, STANDS_MS);
    for (const event of BEGINS) window.addEventListener(event, resolve, { once: true, capture: true, passive: true });
  });

let last: Promise<unknown> | undefined;

/** A promise, and what keeps it. */
export function promised(): [kept: Promise<void>, keep: () => void] {
  let keep = () => {};
  const kept = new Promise<void>((resolve) => (keep = resolve));
  return [kept, keep];
}

/** Loads once what somebody waits for has been drawn, one after the other: a key that is pressed meanwhile waits for one of them at
 *  most. What is `asked` for does not wait for its turn. Without what cannot be loaded the page stays as it is, and says so. */
export function whenIdle<T>(load: () => Promise<T>, asked?: Promise<unknown>): Promise<T> {
  last = (last ?? settled()).then(pause);
  return (asked ? Promise.race([last, asked]) : last)
    .then(serverIsThere)
    .then(load)
    .catch(() => {
      miss();
      return new Promise<never>(() => undefined);
    });
}
