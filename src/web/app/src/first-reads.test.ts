// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { askAhead, askOnce, readsOf } from './ahead';
import { queries } from './api';
import { FIRST_PAGES } from './first-pages';
import { readFirst } from './first-reads';
import { begin } from './session';

const PAGES = Object.keys(FIRST_PAGES);
const operations = [...new Set(PAGES.flatMap((pathname) => readsOf({ pathname, search: '' }, 'ana')).map(([operation]) => operation))];

const asked: string[] = [];
const server = (decision: string) => (of: string | Request, { method = 'GET' }: RequestInit = {}) => {
  const [verb, address] = typeof of === 'string' ? [method, of] : [of.method, of.url.replace(window.location.origin, '')];
  asked.push(`${verb} ${address}`);
  if (address === '/api/policy/explain') return Promise.resolve(Response.json({ actor: 'ana', operations: operations.map((operation) => ({ operation, decision, reason: 'so' })) }));
  if (address === '/api/me') return Promise.resolve(Response.json({ id: 'ana' }));
  if (address.startsWith('/api/events')) return Promise.resolve(Response.json({ events: [], last_seq: 0 }));
  return Promise.resolve(address === '/api/audit/key' ? new Response('key') : Response.json([]));
};

beforeEach(() => {
  sessionStorage.setItem('ok.token', 'ok_x');
  begin(window.location, window.history, sessionStorage);
});

afterEach(() => {
  vi.unstubAllGlobals();
  queries.clear();
  globalThis.okAsked?.clear();
  asked.length = 0;
});

it.each(PAGES)('%s takes each answer that was asked ahead, and asks for none of them again', async (pathname) => {
  vi.stubGlobal('fetch', server('allow'));
  const page = { pathname, search: pathname === '/policy' ? '?file=a.cedar' : '' };
  askAhead('ok_x', page);
  await vi.waitFor(() => expect(asked).toHaveLength(2 + readsOf(page, 'ana').length));
  await readFirst(page);
  expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
  expect([...(globalThis.okAsked?.keys() ?? [])]).toEqual([]);
});

it.each(['deny', 'needs_approval'])('reads nothing that the gate answers with %s', async (decision) => {
  vi.stubGlobal('fetch', server(decision));
  const page = { pathname: '/', search: '' };
  askAhead('ok_x', page);
  await readFirst(page);
  expect(asked).toEqual(['GET /api/me', 'POST /api/policy/explain']);
});

it('does not ask ahead for what the program has asked for itself by then', async () => {
  vi.stubGlobal('fetch', server('allow'));
  const kills = () => askOnce(new Request(new URL('/api/kill', window.location.href)));
  const ahead = askAhead('ok_x', { pathname: '/', search: '' });
  await kills();
  await ahead;
  expect(asked.filter((one) => one === 'GET /api/kill')).toHaveLength(1);
  expect(globalThis.okAsked?.has('GET /api/kill')).toBe(false);
});

it('gives an answer once', async () => {
  vi.stubGlobal('fetch', server('deny'));
  askAhead('ok_x', { pathname: '/', search: '' });
  const me = () => askOnce(new Request(new URL('/api/me', window.location.href)));
  await me();
  expect(asked).toHaveLength(2);
  await me();
  expect(asked.slice(2)).toEqual(['GET /api/me']);
});
