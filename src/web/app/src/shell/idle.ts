import { serverIsThere } from '../there';

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

/** Loads once what somebody waits for has been drawn, one after the other: a key that is pressed meanwhile waits for one of them at
 *  most. Without what cannot be loaded the page stays as it is, and the console says why. */
export function whenIdle<T>(load: () => Promise<T>): Promise<T> {
  last = (last ?? settled()).then(pause);
  return last
    .then(serverIsThere)
    .then(load)
    .catch((why: unknown) => {
      reportError(why);
      return new Promise<never>(() => undefined);
    });
}
