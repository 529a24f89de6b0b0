// Questions that were asked before the program was there that needs them: it takes their answers as its own.

/** An answer that nobody came for by then is too old to be given. */
const GOOD_FOR_MS = 10_000;

/** So many of the newest events are shown at first. */
export const NEWEST = 100;

const asked = new Map<string, Promise<Response>>();

function ask(token: string, method: string, address: string, body?: string) {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = fetch(address, { method, headers, body });
  const key = `${method} ${address}`;
  asked.set(key, answer);
  answer.catch(() => asked.delete(key));
  setTimeout(() => asked.delete(key), GOOD_FOR_MS);
}

/** Every page waits to know who is signed in and what they may do; the log also for what it shows. */
export function askAhead(token: string, { pathname, search }: Pick<Location, 'pathname' | 'search'>) {
  ask(token, 'GET', '/api/me');
  ask(token, 'POST', '/api/policy/explain', '{}');
  if (pathname === '/log' && search === '') ask(token, 'GET', `/api/events?limit=${NEWEST}`);
}

/** In place of `fetch`: the first to ask gets the answer that is on its way already. */
export function askOnce(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const key = `${request.method} ${pathname}${search}`;
  const answer = asked.get(key);
  asked.delete(key);
  return answer ?? fetch(request);
}
