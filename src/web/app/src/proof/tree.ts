// RFC 6962 / RFC 9162 §2.1: inclusion and consistency, from the text of the RFC.

import { isSame, join, sha256, type Bytes } from './bytes';

export const leafHash = (leaf: Bytes) => sha256(join(Uint8Array.of(0), leaf));
const nodeHash = (left: Bytes, right: Bytes) => sha256(join(Uint8Array.of(1), left, right));

// Bit operations of JavaScript end at 32 bits; these do not.
const isOdd = (n: number) => n % 2 === 1;
const half = (n: number) => Math.floor(n / 2);

/** The root that a leaf at this index leads to (RFC 9162 §2.1.3.2). */
export async function rootOf(leaf: Bytes, index: number, size: number, path: Bytes[]): Promise<Bytes> {
  if (index >= size) throw new Error('the event is not in a log of this size');
  let [fn, sn, root] = [index, size - 1, leaf];
  for (const hash of path) {
    if (sn === 0) throw new Error('the proof is too long');
    if (isOdd(fn) || fn === sn) {
      root = await nodeHash(hash, root);
      while (!isOdd(fn) && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      root = await nodeHash(root, hash);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  if (sn !== 0) throw new Error('the proof is too short');
  return root;
}

const isPowerOfTwo = (n: number) => n > 0 && Number.isInteger(Math.log2(n));

/** Whether a log of one size continues that of an earlier one (RFC 9162 §2.1.4.2). */
export async function continues(first: number, second: number, older: Bytes, newer: Bytes, path: Bytes[]): Promise<boolean> {
  if (first > second) return false;
  if (first === second) return path.length === 0 && isSame(older, newer);
  if (first === 0) return path.length === 0;
  if (path.length === 0) return false;
  const [begin, ...rest] = isPowerOfTwo(first) ? [older, ...path] : path;
  let [fn, sn] = [first - 1, second - 1];
  while (isOdd(fn)) [fn, sn] = [half(fn), half(sn)];
  let [fr, sr] = [begin as Bytes, begin as Bytes];
  for (const hash of rest) {
    if (sn === 0) return false;
    if (isOdd(fn) || fn === sn) {
      fr = await nodeHash(hash, fr);
      sr = await nodeHash(hash, sr);
      while (!isOdd(fn) && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      sr = await nodeHash(sr, hash);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && isSame(fr, older) && isSame(sr, newer);
}
