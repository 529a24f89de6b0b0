import { describe, expect, it } from 'vitest';
import { followKeys } from './keys';
import { openCheckpoint } from './note';
import { proveContinues } from './proofs';
// What a server answered whose key was lost twice, word for word.
import rekeyed from './rekeyed.json';

const [first, second, third] = rekeyed.keys as [string, string, string];

async function seen() {
  const { size, root } = await openCheckpoint(rekeyed.seen, first);
  return { vkey: first, size, root };
}

const answers =
  (proofs: Record<string, string> = rekeyed.consistency) =>
  async (from: number, to: number) => {
    const proof = proofs[`${from}-${to}`];
    if (!proof) throw new Error(`nobody asked for ${from}-${to}`);
    return proof;
  };

describe('a log that was rekeyed', () => {
  it('is followed from key to key, and then as every log', async () => {
    const at = await followKeys(await seen(), third, rekeyed.rekeyed, answers());
    expect(at.size).toBe(17);
    const head = await openCheckpoint(rekeyed.head, third);
    expect((await proveContinues(rekeyed.consistency['17-19'], third, at)).size).toBe(head.size);
    // Whoever knew the second key already has one step to go.
    const between = await followKeys(await seen(), second, rekeyed.rekeyed, answers());
    expect((await followKeys({ vkey: second, ...between }, third, rekeyed.rekeyed, answers())).size).toBe(17);
    expect((await followKeys({ vkey: third, ...at }, third, [], answers())).size).toBe(17);
  });

  it('is not followed where nothing leads to its key', async () => {
    const missing = 'nothing in it leads from the one to the other';
    await expect(followKeys(await seen(), third, [], answers())).rejects.toThrow(missing);
    await expect(followKeys(await seen(), third, rekeyed.rekeyed.slice(0, 1), answers())).rejects.toThrow(missing);
    await expect(followKeys(await seen(), third, rekeyed.rekeyed.slice(1), answers())).rejects.toThrow(missing);
    const round = rekeyed.rekeyed.map(({ size, from }) => ({ size, from, to: from }));
    await expect(followKeys(await seen(), third, round, answers())).rejects.toThrow();
  });

  it('is not followed without the signatures of both keys', async () => {
    const proof = rekeyed.consistency['11-14'];
    const [one, two] = proof.split('\n').filter((line) => line.startsWith('— ')) as [string, string];
    for (const gone of [one, two]) {
      const proofs = { ...rekeyed.consistency, '11-14': proof.replace(`${gone}\n`, '') };
      await expect(followKeys(await seen(), third, rekeyed.rekeyed, answers(proofs))).rejects.toThrow('not signed by');
    }
    const swapped = { ...rekeyed.consistency, '11-14': rekeyed.consistency['11-19'] };
    await expect(followKeys(await seen(), third, rekeyed.rekeyed, answers(swapped))).rejects.toThrow();
  });

  it('is not followed back behind what was seen', async () => {
    const later = { ...(await seen()), size: 16 };
    await expect(followKeys(later, third, rekeyed.rekeyed, answers())).rejects.toThrow('this browser has seen 16 events');
    const other = { ...(await seen()), root: new Uint8Array(32) };
    await expect(followKeys(other, third, rekeyed.rekeyed, answers())).rejects.toThrow('does not continue');
  });
});
