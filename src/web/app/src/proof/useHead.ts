// The head of the log, verified in this browser, and held against the one that it saw last.

import { queryOptions } from '@tanstack/react-query';
import { auditConsistency, auditHead, auditKey, eventList, Refused, Unreachable } from '../api';
import { useGuarded } from '../parts/guard';
import { fromBase64, toBase64 } from './bytes';
import { followKeys, type Rekeyed } from './keys';
import { openCheckpoint } from './note';
import { proveContinues } from './proofs';

/** `rekeyed` is the last event under another key, where it took over since this browser saw the log first. */
type Seen = { vkey: string; size: number; root: string; rekeyed?: number };

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

export type Head = { size: number; at: string; grew?: number; problem?: string; rekeyed?: number };

const consistency = async (from: number, to: number) => (await auditConsistency({ query: { from, to }, throwOnError: true, parseAs: 'text' })).data as string;

/** How the log went from one key to another, as its events say. */
async function rekeyed(): Promise<Rekeyed[]> {
  const { data } = await eventList({ query: { type: ['log_rekeyed'], since: 0, limit: 1000 }, throwOnError: true });
  return data.events.map((record) => record.event as unknown as Rekeyed);
}

async function verifyHead(): Promise<Head> {
  const { data: head } = await auditHead({ throwOnError: true });
  if (!canVerify()) throw new Error('this browser verifies only over https or on this machine');
  const vkey = (await auditKey({ throwOnError: true, parseAs: 'text' })).data as string;
  try {
    const checkpoint = await openCheckpoint(head.signed_note, vkey);
    const before = seen(checkpoint.origin);
    if (before && checkpoint.size < before.size) throw new Error(`the log ends before event ${before.size}, which this browser has seen`);
    const key = vkey.trim();
    let replaced = before?.rekeyed;
    if (before && before.size > 0) {
      const from = { vkey: before.vkey, size: before.size, root: fromBase64(before.root) };
      const at = key === before.vkey ? from : await followKeys(from, key, await rekeyed(), consistency);
      if (key !== before.vkey) replaced = at.size;
      await proveContinues(await consistency(at.size, checkpoint.size), vkey, at);
    }
    remember(checkpoint.origin, { vkey: key, size: checkpoint.size, root: toBase64(checkpoint.root), rekeyed: replaced });
    return { size: checkpoint.size, at: new Date().toISOString(), grew: before?.size, rekeyed: replaced };
  } catch (error) {
    if (error instanceof Refused || error instanceof Unreachable) throw error;
    return { size: head.size, at: new Date().toISOString(), problem: error instanceof Error ? error.message : String(error) };
  }
}

export const headOptions = () => queryOptions<Head>({ queryKey: ['head verified'], queryFn: verifyHead, staleTime: 20_000, retry: false });

export const useHead = () => useGuarded('audit.head', { ...headOptions(), refetchInterval: 30_000 });
