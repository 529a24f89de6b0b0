// Checkpoints: C2SP tlog-checkpoint, signed as a C2SP signed-note with Ed25519 (docs/concepts/log-format.md).

import { fromBase64, hex, join, sha256, utf8, type Bytes } from './bytes';

export type Checkpoint = { origin: string; size: number; root: Bytes };

/** The number of a size or an index: decimal, without zeros before it. */
export function count(line: string | undefined): number {
  if (line === undefined || !/^(0|[1-9]\d{0,15})$/.test(line)) throw new Error('a size is not a number');
  const number = Number(line);
  if (!Number.isSafeInteger(number)) throw new Error('a size is too large');
  return number;
}

async function keyOf(vkey: string): Promise<{ name: string; id: string; key: Bytes }> {
  const parts = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey.trim());
  if (!parts) throw new Error('the verifier key has another form');
  const [, name = '', id = '', encoded = ''] = parts;
  const typed = fromBase64(encoded);
  if (typed[0] !== 1 || typed.length !== 33) throw new Error('the verifier key is of another kind');
  const expected = hex((await sha256(join(utf8(`${name}\n`), typed))).slice(0, 4));
  if (expected !== id) throw new Error('the verifier key does not have the id that it says');
  return { name, id, key: typed.slice(1) };
}

/** Checks a signed checkpoint with a verifier key and reads it. Anything that is not as it must be is an error. */
export async function openCheckpoint(note: string, vkey: string): Promise<Checkpoint> {
  const end = note.indexOf('\n\n');
  if (end < 0) throw new Error('the checkpoint has no signature');
  const body = note.slice(0, end + 1);
  const { name, id, key } = await keyOf(vkey);
  const [origin, size, root, ...rest] = body.split('\n');
  if (origin !== name) throw new Error('the checkpoint is of another log than the key');
  if (rest.length !== 1 || rest[0] !== '') throw new Error('the checkpoint has another form');
  // A checkpoint may bear the signatures of other keys too: of the one that took over, and of witnesses.
  const lines = note
    .slice(end + 2)
    .split('\n')
    .filter((one) => one.startsWith(`— ${name} `));
  const signed = lines.map((line) => fromBase64(line.slice(`— ${name} `.length))).find((one) => hex(one.slice(0, 4)) === id);
  if (!signed) throw new Error('the checkpoint is not signed by the log’s key');
  if (signed.length !== 68) throw new Error('the signature has another length');
  const verifier = await crypto.subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
  const isTrue = await crypto.subtle.verify({ name: 'Ed25519' }, verifier, signed.slice(4), utf8(body));
  if (!isTrue) throw new Error('the signature of the checkpoint is wrong');
  const hash = fromBase64(root ?? '');
  if (hash.length !== 32) throw new Error('the root has another length');
  return { origin, size: count(size), root: hash };
}

