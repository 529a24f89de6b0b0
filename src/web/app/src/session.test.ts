// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { begin, currentSession, currentToken, followLinks, joinTabs, readToken, signIn, signOut } from './session';

const TOKEN = `ok_${'a'.repeat(49)}`;

describe('a pasted text', () => {
  it('is a token, a header or a printed link', () => {
    for (const text of [TOKEN, ` ${TOKEN}\n`, `Bearer ${TOKEN}`, `http://127.0.0.1:8080/#token=${TOKEN}`]) expect(readToken(text)).toEqual({ token: TOKEN });
  });
  it('is told what it is when it is another thing', () => {
    expect(readToken('')).toEqual({ problem: 'paste a token' });
    expect(readToken('hunter2')).toHaveProperty('problem');
    expect(readToken(`ok_ag_${'a'.repeat(49)}`)).toMatchObject({ problem: expect.stringContaining('outside agent') });
    expect(readToken(`ok_op_${'a'.repeat(49)}`)).toMatchObject({ problem: expect.stringContaining('operator') });
  });
});

describe('the session', () => {
  beforeEach(() => sessionStorage.clear());
  const open = (hash: string) => {
    const replaced: string[] = [];
    const location = { hash, pathname: '/log', search: '?type=denied' } as Location;
    begin(location, { replaceState: (_state: unknown, _title: string, address: string) => replaced.push(address) } as unknown as History, sessionStorage);
    return replaced;
  };
  it('takes the token out of the address', () => {
    expect(open(`#token=${TOKEN}`)).toEqual(['/log?type=denied']);
    expect(currentToken()).toBe(TOKEN);
    expect(sessionStorage.getItem('ok.token')).toBe(TOKEN);
  });
  it('takes out of the address what is no token too', () => {
    expect(open('#token=<script>')).toEqual(['/log?type=denied']);
    expect(currentSession()).toEqual({ token: null, ended: 'bad-link' });
  });
  it('becomes that of a link which is opened in the same tab', () => {
    signIn(TOKEN);
    let forgotten = 0;
    followLinks(() => (forgotten += 1));
    const other = `ok_${'b'.repeat(49)}`;
    window.location.hash = `#token=${other}`;
    window.dispatchEvent(new HashChangeEvent('hashchange'));
    expect([currentToken(), forgotten, window.location.hash]).toEqual([other, 1, '']);
  });
  it('is that of another tab in a new one, and over with it', async () => {
    const other = new BroadcastChannel('ok.session');
    const next = () => new Promise((resolve) => other.addEventListener('message', ({ data }) => resolve(data), { once: true }));
    open('');
    const asked = next();
    joinTabs();
    expect(await asked).toEqual({ is: 'new' });
    other.postMessage({ is: 'signed-in', token: TOKEN });
    await vi.waitFor(() => expect(currentToken()).toBe(TOKEN));
    const answered = next();
    other.postMessage({ is: 'new' });
    expect(await answered).toEqual({ is: 'signed-in', token: TOKEN });
    other.postMessage({ is: 'signed-out', token: 'another', ended: 'refused' });
    other.postMessage({ is: 'signed-out', token: TOKEN, ended: 'signed-out' });
    await vi.waitFor(() => expect(currentSession()).toEqual({ token: null, ended: 'signed-out' }));
    other.postMessage({ is: 'signed-in', token: TOKEN });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(currentToken()).toBeUndefined();
    const left = next();
    signIn(TOKEN);
    signOut('signed-out');
    expect(await left).toEqual({ is: 'signed-out', token: TOKEN, ended: 'signed-out' });
    other.close();
  });
  it('leaves another fragment alone', () => {
    expect(open('#content')).toEqual([]);
  });
  it('is over when it is', () => {
    signIn(TOKEN);
    signOut('refused');
    expect(currentToken()).toBeUndefined();
    expect(sessionStorage.getItem('ok.token')).toBeNull();
  });
});
