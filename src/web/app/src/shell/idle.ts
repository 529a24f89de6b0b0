/** Once what somebody waits for has been drawn; not every browser tells. */
export const idle = () => new Promise<unknown>((resolve) => ('requestIdleCallback' in window ? requestIdleCallback(resolve, { timeout: 2_000 }) : setTimeout(resolve, 200)));
