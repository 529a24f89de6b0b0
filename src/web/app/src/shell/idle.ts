let last: Promise<unknown> = Promise.resolve();

const pause = () => new Promise<unknown>((resolve) => ('requestIdleCallback' in window ? requestIdleCallback(resolve, { timeout: 2_000 }) : setTimeout(resolve, 200)));

/** Once what somebody waits for has been drawn, one after the other: a key that is pressed meanwhile waits for one of them at most. */
export const idle = () => (last = last.then(pause));
