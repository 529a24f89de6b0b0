// The first script of the page, built as a file of its own: it is small, and runs before all else is loaded and compiled.
// The token is taken, and what the page shows is asked for while the program that shows it is still on its way. The program
// begins once that is asked: a slow machine does one thing after the other, and the answers come meanwhile.

import { askAhead } from './ahead';
import { begin, currentToken } from './session';

/** The program does not wait longer than this for a server that takes its time. */
const PATIENCE_MS = 150;

begin(window.location, window.history, window.sessionStorage);
const token = currentToken();
const asked = token ? askAhead(token, window.location) : Promise.resolve();
const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
const parsed = new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));

/** What measures itself as it is drawn wants its styles. */
const styled = (link: HTMLLinkElement) => link.sheet ?? new Promise((resolve) => ['load', 'error'].forEach((ended) => link.addEventListener(ended, resolve, { once: true })));

void (async () => {
  await Promise.all([parsed, Promise.race([asked, patience])]);
  await Promise.all([...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].map(styled));
  const main = document.querySelector<HTMLLinkElement>('link#main');
  if (main) await import(/* @vite-ignore */ main.href);
})();
