// Proofs as the server hands them out (docs/concepts/log-format.md), checked with nothing but the verifier key.

import { fromBase64, hex, isSame, text, type Bytes } from './bytes';
import { count, openCheckpoint, type Checkpoint } from './note';
import { continues, leafHash, rootOf } from './tree';

/** What a leaf says. */
export type Leaf = {
  v: number;
  origin: string;
  seq: number;
  prev: string;
  ts: number;
  actor: string;
  type: string;
  refs: string[];
  policy: { hash: string; seq: number };
  decision: string;
  c: string;
};

export type Proved = { leaf: Leaf; bytes: number; hash: string; index: number; path: number; checkpoint: Checkpoint };

/** The lines before the checkpoint, and the checkpoint. */
function split(proof: string): [string[], string] {
  const end = proof.indexOf('\n\n');
  if (end < 0) throw new Error('the proof has no checkpoint');
  return [proof.slice(0, end).split('\n'), proof.slice(end + 2)];
}

function after(line: string | undefined, name: string): string {
  if (!line?.startsWith(`${name} `)) throw new Error(`the proof has no line «${name}»`);
  return line.slice(name.length + 1);
}

function hashes(lines: string[]): Bytes[] {
  return lines.map((line) => {
    const hash = fromBase64(line);
    if (hash.length !== 32) throw new Error('a hash of the proof has another length');
    return hash;
  });
}

/** Proves that an event is in the log, or says by an error why not. */
export async function proveEvent(proof: string, vkey: string, seq: number): Promise<Proved> {
  const [[kind, extra, at, ...path], note] = split(proof);
  if (kind !== 'c2sp.org/tlog-proof@v1') throw new Error('this is not a proof');
  const checkpoint = await openCheckpoint(note, vkey);
  const bytes = fromBase64(after(extra, 'extra'));
  const index = count(after(at, 'index'));
  const hash = await leafHash(bytes);
  const root = await rootOf(hash, index, checkpoint.size, hashes(path));
  if (!isSame(root, checkpoint.root)) throw new Error('the event is not in the log that the checkpoint signs');
  const leaf = JSON.parse(text(bytes)) as Leaf;
  if (leaf.seq !== seq || index !== seq - 1) throw new Error('the proof is of another event');
  if (leaf.origin !== checkpoint.origin) throw new Error('the event is of another log');
  return { leaf, bytes: bytes.length, hash: hex(hash), index, path: path.length, checkpoint };
}

/** Checks that a log continues an earlier one. */
export async function proveContinues(proof: string, vkey: string, from: { size: number; root: Bytes }): Promise<Checkpoint> {
  const [[kind, first, second, ...path], note] = split(proof);
  if (kind !== 'ok/consistency-proof@v1') throw new Error('this is not a proof');
  const checkpoint = await openCheckpoint(note, vkey);
  if (count(after(first, 'from')) !== from.size || count(after(second, 'to')) !== checkpoint.size) throw new Error('the proof is of other sizes');
  if (!(await continues(from.size, checkpoint.size, from.root, checkpoint.root, hashes(path)))) throw new Error('the log does not continue what this browser has seen of it');
  return checkpoint;
}

/** What of an event that the server shows is not what its leaf says. */
export function differences(leaf: Leaf, shown: { seq: number; at: string; actor: string; decision: string; event: unknown }): string[] {
  const type = (shown.event as { type?: string } | null)?.type;
  const pairs: [string, unknown, unknown][] = [
    ['number', leaf.seq, shown.seq],
    ['time', leaf.ts, Date.parse(shown.at)],
    ['actor', leaf.actor, shown.actor],
    ['decision', leaf.decision, shown.decision],
    ['type', leaf.type, type],
  ];
  return pairs.filter(([, signed, shown]) => signed !== shown).map(([name]) => name);
}
