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

/** How long until a server that is gone is asked again. */
const AGAIN_MS = 5_000;

/** A browser asks once for a part of the program, and for good: so it is asked for when the server is there. */
async function answers(): Promise<void> {
  while (!(await fetch('/ok.svg', { cache: 'no-store' }).then((answer) => answer.ok).catch(() => false))) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Loads once what somebody waits for has been drawn, one after the other: a key that is pressed meanwhile waits for one of them at most.
 *  Without what cannot be loaded the page stays as it is. */
export function whenIdle<T>(load: () => Promise<T>): Promise<T> {
  last = (last ?? settled()).then(pause);
  return last.then(answers).then(load).catch(() => new Promise<never>(() => undefined));
}
