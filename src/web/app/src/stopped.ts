// Whoever is stopped, by a kill switch or a policy, may do nothing at all, not even read who they are. Each refusal is an event: so a page
// that was told so sends nothing more, and looks again seldom.

import { useSyncExternalStore } from 'react';
import { currentToken, onSession } from './session';

/** What everybody may who is not stopped. */
const LEAST = '/api/me';

/** Answered to anybody. */
const OPEN = '/api/health';

/** After so many milliseconds it is looked again, each time later. */
const AGAIN_MS = [30_000, 60_000, 120_000, 300_000];

type Stopped = { reason: string; looked: number; tries: number };

let stopped: Stopped | undefined;
let looking: Promise<void> | undefined;
let timer: ReturnType<typeof setTimeout>;
const listeners = new Set<() => void>();
const released = new Set<() => void>();

function set(next: Stopped | undefined) {
  clearTimeout(timer);
  const wasStopped = stopped !== undefined;
  stopped = next;
  // A tab that nobody sees looks once somebody does.
  if (next) timer = setTimeout(() => isSeen() && void look(), AGAIN_MS[Math.min(next.tries, AGAIN_MS.length) - 1]);
  for (const listener of listeners) listener();
  if (wasStopped && !next) for (const tell of released) tell();
}

const isSeen = () => document.visibilityState === 'visible';
const pathOf = ({ url }: Request | Response) => new URL(url, window.location.href).pathname;

const reasonIn = (message: string) => message.replace(/^policy denied [a-z_.]+: /, '');

/** In place of the answer to `request`, where it is known to be a refusal. */
export function refusalOf(request: Request): Response | undefined {
  return stopped && pathOf(request) !== OPEN ? Response.json({ error: 'denied', message: stopped.reason }, { status: 403 }) : undefined;
}

/** The gate has refused `request`: that alone, or everything. */
export function wasRefused(request: Request | undefined, message: string) {
  if (stopped) return;
  if (request && pathOf(request) === LEAST) set({ reason: reasonIn(message), looked: Date.now(), tries: 1 });
  else void look();
}

/** Asks what everybody may. Who asks meanwhile waits for the same. */
export const look = () => (looking ??= ask().finally(() => (looking = undefined)));

async function ask() {
  const token = currentToken();
  const answer = await fetch(LEAST, { headers: { authorization: `Bearer ${token}` } }).catch(() => undefined);
  if (!answer || token !== currentToken()) return;
  if (answer.status === 403) {
    const { message = '' } = (await answer.json()) as { message?: string };
    set({ reason: reasonIn(message), looked: Date.now(), tries: (stopped?.tries ?? 0) + 1 });
  } else if (stopped) {
    set(undefined);
  }
}

/** Calls `tell` once what was stopped is released. */
export const onRelease = (tell: () => void) => void released.add(tell);

export function followStops() {
  onSession(() => set(undefined));
  document.addEventListener('visibilitychange', () => {
    if (stopped && isSeen() && Date.now() - stopped.looked > (AGAIN_MS[0] ?? 0)) void look();
  });
}

/** Why the signed-in person may do nothing at all, if that is so. */
export function useStopped(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => stopped?.reason,
  );
}
