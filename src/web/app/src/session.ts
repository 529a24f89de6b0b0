// The bearer token: where it comes from, where it is kept, and when it is over.
//
// It is kept in the sessionStorage of each tab and sent in a header, never in an address.

const KEY = 'ok.token';
/** `ok_`, a secret of 43 characters and a checksum of 6. */
const SHAPE = /^ok_[0-9A-Za-z]{49}$/;

/** Why nobody is signed in. */
export type Ended = 'never' | 'signed-out' | 'refused' | 'bad-link';
export type Session = { token: string } | { token: null; ended: Ended };

let session: Session = { token: null, ended: 'never' };
const listeners = new Set<() => void>();

function set(next: Session) {
  // What was asked ahead is for who was signed in.
  globalThis.okAsked?.clear();
  session = next;
  for (const listener of listeners) listener();
}

/** What a pasted text or a printed link holds: the token, or why it is none. */
export function readToken(pasted: string): { token: string } | { problem: string } {
  const fragment = pasted.includes('#') ? pasted.slice(pasted.indexOf('#') + 1) : '';
  const text = (new URLSearchParams(fragment).get('token') ?? pasted).trim().replace(/^Bearer\s+/i, '');
  if (text === '') return { problem: 'paste a token' };
  if (/^ok_ag_/.test(text)) return { problem: 'this is an outside agent’s token; the workspace is for people' };
  if (/^ok_op_/.test(text)) return { problem: 'this is an operator’s token; the workspace is for people' };
  if (!SHAPE.test(text)) return { problem: 'a token is ok_ followed by 49 letters and digits; was all of it copied?' };
  return { token: text };
}

/** Whether a link has something else in the place of its token, such as a part of it. */
export const isCut = ({ hash }: Location) => hash.includes('token=') && !('token' in readToken(hash));

/** Takes a token out of the fragment, where a printed link has it, and the fragment out of the address and its history. */
function taken(location: Location, history: History): ReturnType<typeof readToken> | undefined {
  if (!location.hash.includes('token=')) return undefined;
  const read = readToken(location.hash);
  history.replaceState(null, '', location.pathname + location.search);
  return read;
}

export function begin(location: Location, history: History, storage: Storage) {
  const given = taken(location, history);
  if (given && 'token' in given) storage.setItem(KEY, given.token);
  const kept = storage.getItem(KEY);
  session = kept ? { token: kept } : { token: null, ended: given ? 'bad-link' : 'never' };
}

export function signIn(token: string) {
  sessionStorage.setItem(KEY, token);
  set({ token });
}

export function signOut(ended: Ended) {
  if (session.token !== null) tabs?.postMessage({ is: 'signed-out', token: session.token, ended } satisfies Said);
  leave(ended);
}

function leave(ended: Ended) {
  sessionStorage.removeItem(KEY);
  set({ token: null, ended });
}

/** A printed link that is opened in a tab that shows the workspace loads nothing: it only changes the fragment. */
export function followLinks(forget: () => void) {
  window.addEventListener('hashchange', () => {
    const given = taken(window.location, window.history);
    if (!given || !('token' in given) || given.token === currentToken()) return;
    forget();
    signIn(given.token);
  });
}

/** What tabs of one browser say to each other. */
type Said = { is: 'new' } | { is: 'signed-in'; token: string } | { is: 'signed-out'; token: string; ended: Ended };

let tabs: BroadcastChannel | undefined;

/** A link that is opened in a new tab is for whoever opened it: the tab gets the token of another one, and gives it up with it. */
export function joinTabs() {
  tabs = new BroadcastChannel('ok.session');
  const say = (said: Said) => tabs?.postMessage(said);
  tabs.addEventListener('message', ({ data: said }: MessageEvent<Said>) => {
    const { token } = session;
    if (said.is === 'new' && token !== null) say({ is: 'signed-in', token });
    // Who has signed out here, or was refused, is asked for a token.
    if (said.is === 'signed-in' && token === null && session.ended === 'never') signIn(said.token);
    if (said.is === 'signed-out' && said.token === token) leave(said.ended);
  });
  if (session.token === null) say({ is: 'new' });
}

export const currentToken = () => session.token ?? undefined;

export const currentSession = () => session;

/** Calls `listener` whenever somebody signs in or out, until the answer is called. */
export function onSession(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
