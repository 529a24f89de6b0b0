// Questions that were asked before the program was there that needs them: it takes their answers as its own.

import type { AllExplained } from './api';

/** An answer that nobody came for by then is too old to be given. */
const GOOD_FOR_MS = 10_000;

/** Approvals are read so many at once. */
export const PAGE = 100;

/** So many of the newest events are shown at first. */
export const NEWEST = 100;

/** By the address of a page: the question that it waits for, and the operation that this is. */
const FIRST: Record<string, [string, string]> = {
  '/log': ['event.list', `/api/events?limit=${NEWEST}`],
  '/approvals': ['approval.list', `/api/approvals?status=pending&mine=true&limit=${PAGE}`],
};

const asked = new Map<string, Promise<Response>>();

function ask(token: string, method: string, address: string, body?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = fetch(address, { method, headers, body });
  const key = `${method} ${address}`;
  asked.set(key, answer);
  answer.catch(() => asked.delete(key));
  setTimeout(() => asked.delete(key), GOOD_FOR_MS);
  return answer;
}

/** Every page waits to know who is signed in and what they may do; some for more, which they may have to be allowed. */
export function askAhead(token: string, { pathname, search }: Pick<Location, 'pathname' | 'search'>) {
  ask(token, 'GET', '/api/me');
  const cans = ask(token, 'POST', '/api/policy/explain', '{}').then((answer) => (answer.ok ? (answer.clone().json() as Promise<AllExplained>) : undefined));
  const [operation, address] = (search === '' && FIRST[pathname]) || [];
  if (!address) return;
  cans.then((told) => {
    if (told?.operations.some((one) => one.operation === operation && one.decision !== 'deny')) void ask(token, 'GET', address);
  }, () => undefined);
}

/** In place of `fetch`: the first to ask gets the answer that is on its way already. */
export function askOnce(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const key = `${request.method} ${pathname}${search}`;
  const answer = asked.get(key);
  asked.delete(key);
  return answer ?? fetch(request);
}
