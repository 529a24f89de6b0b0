/** How long until a server that is gone is asked again. */
const AGAIN_MS = 2_000;

const isThere = () => fetch('/ok.svg', { cache: 'no-store' }).then((answer) => answer.ok).catch(() => false);

/** Once the server answers; whether it had been gone. A browser asks for a part of the program once, and for good: so nothing is
 *  asked for while the server is gone. */
export async function serverIsThere(): Promise<{ wasGone: boolean }> {
  for (let wasGone = false; ; wasGone = true) {
    if (await isThere()) return { wasGone };
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
