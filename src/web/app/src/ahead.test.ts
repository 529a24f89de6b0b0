import { afterEach, expect, it, vi } from 'vitest';
import { askAhead, askOnce } from './ahead';

const asked: string[] = [];
const server = (decision: string) => (of: string | Request, { method }: RequestInit = {}) => {
  const address = typeof of === 'string' ? of : `${of.method} ${new URL(of.url).pathname} anew`;
  asked.push(method ? `${method} ${address}` : address);
  return Promise.resolve(Response.json({ operations: [{ operation: 'event.list', decision }] }));
};

afterEach(() => {
  vi.unstubAllGlobals();
  asked.length = 0;
});

it('asks what the log shows as soon as it may, and gives each answer once', async () => {
  vi.stubGlobal('fetch', server('allow'));
  askAhead('ok_x', { pathname: '/log', search: '' });
  await vi.waitFor(() => expect(asked).toEqual(['GET /api/me', 'POST /api/policy/explain', 'GET /api/events?limit=100']));
  await askOnce(new Request('http://here/api/me'));
  await askOnce(new Request('http://here/api/me'));
  expect(asked.slice(3)).toEqual(['GET /api/me anew']);
  const cans = await askOnce(new Request('http://here/api/policy/explain', { method: 'POST', body: '{}' }));
  expect(await cans.json()).toHaveProperty('operations');
});

it('asks nothing that would be refused', async () => {
  vi.stubGlobal('fetch', server('deny'));
  askAhead('ok_x', { pathname: '/log', search: '' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toEqual(['GET /api/me', 'POST /api/policy/explain']);
});
