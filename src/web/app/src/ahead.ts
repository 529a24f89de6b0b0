// Questions that were asked before the program was there that needs them: it takes their answers as its own.

import type { AllExplained } from './api';
import { FIRST_PAGES } from './first-pages';

/** An answer that nobody came for by then is too old to be given. */
const GOOD_FOR_MS = 10_000;

/** Approvals are read so many at once. */
export const PAGE = 100;

/** So many of the newest events are shown at first. */
export const NEWEST = 100;

/** So many of the newest events are kept at first, to show what happens. */
export const LIVE = 200;

/** The longest page that the server hands out. */
export const MOST = 1000;

/** So many items of the inbox are looked through for news. */
export const NEWS = 30;

/** A read that a page begins with: the operation that it is, and its address. */
export type Read = readonly [operation: string, address: string];

/** What pages begin with, as `actor` asks for it. */
export const reads = (actor: string) =>
  ({
    actors: ['actor.list', `/api/actors?limit=${MOST}`],
    happened: ['event.list', `/api/events?limit=${LIVE}`],
    pending: ['approval.list', `/api/approvals?status=pending&mine=true&limit=${PAGE}`],
    owned: ['task.list', `/api/tasks?owner=${encodeURIComponent(actor)}&limit=${MOST}`],
    runs: ['run.list', `/api/runs?limit=${MOST}`],
    company: ['company.read', '/api/company'],
    kills: ['kill.list', '/api/kill'],
    breakGlass: ['break_glass.list', '/api/policy/break-glass?limit=50'],
    policy: ['policy.read', '/api/policy'],
    inbox: ['inbox.list', `/api/inbox?limit=${NEWS}`],
    head: ['audit.head', '/api/audit/head'],
    key: ['audit.key', '/api/audit/key'],
    newest: ['event.list', `/api/events?limit=${NEWEST}`],
    files: ['policy.export', '/api/policy/export'],
    tasks: ['task.list', `/api/tasks?limit=${MOST}`],
  }) satisfies Record<string, Read>;

export type ReadName = keyof ReturnType<typeof reads>;

/** What the frame around every page shows. */
const FRAME: ReadName[] = ['actors', 'happened', 'pending', 'owned', 'runs', 'company', 'kills', 'breakGlass'];

type Where = Pick<Location, 'pathname' | 'search'>;

/** A log with filters begins with other events than the newest. */
const isFiltered = ({ pathname, search }: Where) => pathname === '/log' && search !== '';

/** What a page begins with, what it is for first. */
const own = (page: Where): ReadName[] => (isFiltered(page) ? [] : (FIRST_PAGES[page.pathname]?.reads ?? []));

export const firstOf = (page: Where): ReadName[] => [...new Set([...own(page), ...FRAME])];

/** Whether a page is drawn without it: the frame follows the log from what has happened on, and shows nothing of it. */
export const isLater = (name: ReadName, page: Where) => name === 'happened' && !own(page).includes(name);

export const readsOf = (page: Where, actor: string): Read[] => firstOf(page).map((name) => reads(actor)[name]);

declare global {
  /** The answers that are on their way. The first script and the program are built apart: the page itself hands these on. */
  var okAsked: Map<string, Promise<Response>> | undefined;
  /** What the program has asked for itself while it is not yet known what may be asked ahead. */
  var okAlone: Set<string> | undefined;
}

const asked = (globalThis.okAsked ??= new Map());
const keyOf = (method: string, address: string) => `${method} ${address}`;

function ask(token: string, method: string, address: string, body?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = fetch(address, { method, headers, body });
  const key = keyOf(method, address);
  asked.set(key, answer);
  answer.catch(() => asked.delete(key));
  setTimeout(() => asked.delete(key), GOOD_FOR_MS);
  return answer;
}

/** Every page waits to know who is signed in and what they may do; then for what they may read of it. Done once all is asked. */
export async function askAhead(token: string, page: Where) {
  void ask(token, 'GET', '/api/me');
  const alone = (globalThis.okAlone = new Set<string>());
  try {
    const cans = await ask(token, 'POST', '/api/policy/explain', '{}');
    if (!cans.ok) return;
    const answer = (await cans.clone().json()) as AllExplained;
    const may = new Set(answer.operations.filter(({ decision }) => decision === 'allow').map(({ operation }) => operation));
    // A second answer that nobody comes for would be given, too old, to whoever asks next.
    const open = readsOf(page, answer.actor).filter(([operation, address]) => may.has(operation) && !alone.has(keyOf('GET', address)));
    for (const [, address] of open) void ask(token, 'GET', address);
  } finally {
    globalThis.okAlone = undefined;
  }
}

/** In place of `fetch`: the first to ask gets the answer that is on its way already. */
export function askOnce(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const key = keyOf(request.method, pathname + search);
  const answer = asked.get(key);
  asked.delete(key);
  globalThis.okAlone?.add(key);
  return answer ?? fetch(request);
}
