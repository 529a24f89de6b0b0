// A log whose key was lost goes on with another one (docs/concepts/log-format.md, «Keys»). From the key that this browser saw
// last to the one of today leads the checkpoint that both have signed, and after that the next.

import type { Bytes } from './bytes';
import { proveContinues } from './proofs';

/** What an event `log_rekeyed` says: the log up to `size` was signed over. */
export type Rekeyed = { size: number; from: string; to: string };

/** How far the log was followed: up to where its newest key took over. */
export type Followed = { size: number; root: Bytes };

/** Follows a log from one key to another, or says by an error why it cannot be. */
export async function followKeys(
  before: { vkey: string } & Followed,
  vkey: string,
  rekeyed: Rekeyed[],
  consistency: (from: number, to: number) => Promise<string>,
): Promise<Followed> {
  let [key, at]: [string, Followed] = [before.vkey, before];
  const left = [...rekeyed].sort((a, b) => a.size - b.size);
  while (key !== vkey) {
    const next = left.findIndex((one) => one.from === key);
    const [step] = next < 0 ? [] : left.splice(0, next + 1).slice(-1);
    if (!step) throw new Error('the log has another key than when this browser saw it last, and nothing in it leads from the one to the other');
    if (step.size < at.size) throw new Error(`another key took over after event ${step.size}; this browser has seen ${at.size} events under the one before`);
    const proof = await consistency(at.size, step.size);
    const { size, root } = await proveContinues(proof, key, at);
    if (size !== step.size) throw new Error('the proof is of other sizes');
    await proveContinues(proof, step.to, at);
    [key, at] = [step.to, { size, root }];
  }
  return at;
}
