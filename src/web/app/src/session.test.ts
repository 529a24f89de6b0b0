import { beforeEach, describe, expect, it } from 'vitest';
import { begin, currentToken, readToken, signIn, signOut } from './session';

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
    expect(currentToken()).toBeUndefined();
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
