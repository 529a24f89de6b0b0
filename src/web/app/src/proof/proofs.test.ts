import { describe, expect, it } from 'vitest';
import { fromBase64, join, toBase64, utf8, type Bytes } from './bytes';
import { openCheckpoint } from './note';
import { differences, proveContinues, proveEvent } from './proofs';
import { continues, leafHash, rootOf } from './tree';
// What a server answered, word for word.
import vectors from './vectors.json';

const { vkey, head, proofs, consistency, event } = vectors;

describe('what a server signed', () => {
  it('is opened by its key', async () => {
    const checkpoint = await openCheckpoint(head, vkey);
    expect(checkpoint.origin).toBe(vkey.split('+')[0]);
    expect(checkpoint.size).toBeGreaterThan(60);
  });

  it.each(Object.entries(proofs))('proves event %s', async (seq, proof) => {
    const proved = await proveEvent(proof, vkey, Number(seq));
    expect(proved.leaf.seq).toBe(Number(seq));
    await expect(proveEvent(proof, vkey, Number(seq) + 1)).rejects.toThrow('of another event');
  });

  it('does not verify once any byte of a proof is another', async () => {
    const proof = proofs['33'];
    const wrong: number[] = [];
    for (let at = 0; at < proof.length; at += 7) {
      const other = proof.slice(0, at) + (proof[at] === 'A' ? 'B' : 'A') + proof.slice(at + 1);
      await proveEvent(other, vkey, 33).then(
        () => wrong.push(at),
        () => undefined,
      );
    }
    expect(wrong).toEqual([]);
  });

  it('is not taken from another key, nor without a signature', async () => {
    const other = vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    await expect(openCheckpoint(head, other)).rejects.toThrow('id that it says');
    await expect(openCheckpoint(head.slice(0, head.indexOf('—')), vkey)).rejects.toThrow('not signed');
  });

  it('continues what was seen of it, and nothing else', async () => {
    const { root, size } = await openCheckpoint(head, vkey);
    await proveContinues(consistency['0'], vkey, { size: 0, root: new Uint8Array(32) });
    await proveContinues(consistency[String(size) as '0'], vkey, { size, root });
    // The roots of earlier sizes follow from the proofs of the entries that were the last of theirs.
    const { hash } = await proveEvent(proofs['1'], vkey, 1);
    const first = Uint8Array.from(hash.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    expect((await proveContinues(consistency['1'], vkey, { size: 1, root: first })).size).toBe(size);
    for (const from of ['1', '32', '57', '64'] as const) {
      await expect(proveContinues(consistency[from], vkey, { size: Number(from), root })).rejects.toThrow('does not continue');
      await expect(proveContinues(consistency[from], vkey, { size: Number(from) + 1, root })).rejects.toThrow('other sizes');
    }
  });

  it('is compared with what is shown', async () => {
    const { leaf } = await proveEvent(proofs['33'], vkey, 33);
    expect(differences(leaf, event)).toEqual([]);
    expect(differences(leaf, { ...event, actor: 'mallory', decision: 'deny' })).toEqual(['actor', 'decision']);
  });
});

// RFC 6962 §2.1, by its recursive definitions: another way to the same trees.
const node = async (left: Bytes, right: Bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', join(Uint8Array.of(1), left, right)));
const split = (count: number) => 2 ** Math.floor(Math.log2(count - 1));

async function root(leaves: Bytes[]): Promise<Bytes> {
  if (leaves.length === 1) return leaves[0] as Bytes;
  const k = split(leaves.length);
  return node(await root(leaves.slice(0, k)), await root(leaves.slice(k)));
}

async function path(m: number, leaves: Bytes[]): Promise<Bytes[]> {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k ? [...(await path(m, leaves.slice(0, k))), await root(leaves.slice(k))] : [...(await path(m - k, leaves.slice(k))), await root(leaves.slice(0, k))];
}

async function subproof(m: number, leaves: Bytes[], isWhole: boolean): Promise<Bytes[]> {
  if (m === leaves.length) return isWhole ? [] : [await root(leaves)];
  const k = split(leaves.length);
  return m <= k ? [...(await subproof(m, leaves.slice(0, k), isWhole)), await root(leaves.slice(k))] : [...(await subproof(m - k, leaves.slice(k), false)), await root(leaves.slice(0, k))];
}

describe('trees of every size to 20', () => {
  it('prove each leaf, and each earlier size', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => leafHash(utf8(`leaf ${at}`))));
    for (let size = 1; size <= all.length; size += 1) {
      const leaves = all.slice(0, size);
      const top = toBase64(await root(leaves));
      for (let at = 0; at < size; at += 1) {
        const proof = await path(at, leaves);
        expect(toBase64(await rootOf(leaves[at] as Bytes, at, size, proof))).toBe(top);
        if (size > 1) await expect(rootOf(leaves[at] as Bytes, at, size, proof.slice(1)).then(toBase64)).rejects.toThrow();
      }
      for (let first = 1; first < size; first += 1) {
        const older = await root(all.slice(0, first));
        const proof = await subproof(first, leaves, true);
        expect(await continues(first, size, older, fromBase64(top), proof)).toBe(true);
        expect(await continues(first, size, all[19] as Bytes, fromBase64(top), proof)).toBe(false);
        expect(await continues(first, size, older, fromBase64(top), [...proof, older])).toBe(false);
      }
    }
  });
});
