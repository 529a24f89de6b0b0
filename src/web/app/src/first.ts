// The first script of the page, built as a file of its own: it is small, and runs before all else is loaded and compiled.
// The token is taken, and what the page shows is asked for while the program that shows it is still on its way. The program
// begins once that is asked: a slow machine does one thing after the other, and the answers come meanwhile.

import { askAhead } from './ahead';
import { begin, currentToken, isCut } from './session';
import { serverIsThere } from './there';

/** The program does not wait longer than this for a server that takes its time. */
const PATIENCE_MS = 150;
/** Nor longer than this for its styles. */
const STYLES_MS = 2_000;

/** By address: what the page needs beside the program. The build puts it here. */
declare const FILES_OF_PAGES: Record<string, string[]>;

// A link that was cut is for the program to take: it says so.
if (!isCut(window.location)) begin(window.location, window.history, window.sessionStorage);

/** Without this a page is asked for when the program runs, and not before. */
function askForPage() {
  for (const href of FILES_OF_PAGES[window.location.pathname] ?? []) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', crossOrigin: '', href }));
  }
}

const token = currentToken();
if (token) askForPage();
const asked = token ? askAhead(token, window.location).catch(() => undefined) : Promise.resolve();
const parsed = new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What measures itself as it is drawn wants its styles; without them it is drawn all the same. */
const styled = (link: HTMLLinkElement) => link.sheet ?? new Promise((resolve) => ['load', 'error'].forEach((ended) => link.addEventListener(ended, resolve, { once: true })));

void (async () => {
  await Promise.all([parsed, Promise.race([asked, after(PATIENCE_MS)])]);
  const sheets = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet][href^="/assets/"]');
  await Promise.race([Promise.all([...sheets].map(styled)), after(STYLES_MS)]);
  const main = document.querySelector<HTMLLinkElement>('link#main');
  if (!main) return;
  await import(/* @vite-ignore */ main.href).catch(async (why: unknown) => {
    const message = document.createElement('p');
    message.textContent = 'The workspace could not be loaded. It comes when the server answers, or when you reload the page.';
    document.getElementById('root')?.replaceChildren(message);
    // What fails while the server is there would fail again.
    if ((await serverIsThere()).wasGone) window.location.reload();
    throw why;
  });
})();
