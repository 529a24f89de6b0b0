// The head of the log, verified in this browser, and held against the one that it saw last.

import { auditConsistency, auditHead, auditKey, Refused, Unreachable } from '../api';
import { useGuarded } from '../parts/guard';
import { fromBase64, toBase64 } from './bytes';
import { openCheckpoint } from './note';
import { proveContinues } from './proofs';

type Seen = { vkey: string; size: number; root: string };

const KEY = 'ok.head.';

function seen(origin: string): Seen | undefined {
  try {
    return JSON.parse(window.localStorage.getItem(KEY + origin) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

function remember(origin: string, head: Seen) {
  // A checkpoint is public: it names nobody and lets nobody in.
  window.localStorage.setItem(KEY + origin, JSON.stringify(head));
}

/** Whether this browser can check a signature at all. */
export const canVerify = () => typeof crypto.subtle !== 'undefined';

export type Head = { size: number; at: string; grew?: number; problem?: string };

async function verifyHead(): Promise<Head> {
  const { data: head } = await auditHead({ throwOnError: true });
  if (!canVerify()) throw new Error('this browser verifies only over https or on this machine');
  const vkey = (await auditKey({ throwOnError: true, parseAs: 'text' })).data as string;
  try {
    const checkpoint = await openCheckpoint(head.signed_note, vkey);
    const before = seen(checkpoint.origin);
    if (before && before.vkey !== vkey.trim()) throw new Error('the log has another key than when this browser saw it last');
    if (before && checkpoint.size < before.size) throw new Error(`the log ends before event ${before.size}, which this browser has seen`);
    if (before && before.size > 0) {
      const proof = await auditConsistency({ query: { from: before.size, to: checkpoint.size }, throwOnError: true, parseAs: 'text' });
      await proveContinues(proof.data as string, vkey, { size: before.size, root: fromBase64(before.root) });
    }
    remember(checkpoint.origin, { vkey: vkey.trim(), size: checkpoint.size, root: toBase64(checkpoint.root) });
    return { size: checkpoint.size, at: new Date().toISOString(), grew: before?.size };
  } catch (error) {
    if (error instanceof Refused || error instanceof Unreachable) throw error;
    return { size: head.size, at: new Date().toISOString(), problem: error instanceof Error ? error.message : String(error) };
  }
}

export const useHead = () => useGuarded<Head, Error, Head, string[]>('audit.head', { queryKey: ['head verified'], queryFn: verifyHead, staleTime: 20_000, refetchInterval: 30_000, retry: false });
