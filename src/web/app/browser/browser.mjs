// Debian's Chromium, and what is watched on every page: errors on the console, violations of the page's policy.
import assert from 'node:assert/strict';
import { readFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = () => existsSync(executablePath);

export const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

export const launch = () => chromium.launch({ executablePath, args: FLAGS });

/** By page: the requests that wait for their answer. */
const waiting = new WeakMap();

/** A page of somebody who is signed in, and has not gone anywhere yet. What goes wrong on it is kept in `faults`. */
async function tabOf(context, token, faults) {
  const page = await context.newPage();
  page.on('console', (message) => {
    // A refused request is an answer, and Chromium logs it; so is a server that is being restarted.
    const isAnswer = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isAnswer) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  const open = new Set();
  waiting.set(page, open);
  page.on('request', (request) => open.add(request));
  page.on('response', (answer) => open.delete(answer.request()));
  page.on('requestfailed', (request) => open.delete(request));
  // As a printed link would, without a page to be loaded for it.
  await page.addInitScript((own) => {
    window.sessionStorage.setItem('ok.token', own);
    document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  }, token);
  return page;
}

async function newContext(browser, address, { viewport = WIDE, colorScheme = 'light', hasTouch = false }) {
  const context = await browser.newContext({ baseURL: address, viewport, colorScheme, hasTouch, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  context.setDefaultTimeout(10_000);
  return context;
}

/** Somebody who is signed in, in a context of their own. */
export async function signedIn(browser, address, token, options = {}) {
  const context = await newContext(browser, address, options);
  const faults = [];
  return { context, page: await tabOf(context, token, faults), faults };
}

/** What axe finds. The workspace plays no media, for which axe would load everything once more. */
async function look(page) {
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], preload: false }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary.split('\n').slice(1, 3).join(' ').trim()})`).slice(0, 3).join('; ')}`);
}

/** What axe finds, also once what may still be drawn on a busy machine is. */
export async function findings(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  if ((await look(page)).length === 0) return [];
  await page.waitForTimeout(1_000);
  return look(page);
}

const kindOf = (address) => new URL(address, 'http://of').pathname.split('/')[1];

/** Goes to a page as by a link. One that `isFirst` is loaded, and with `OK_PROVE=1` each. */
export async function open(page, path, isFirst = false) {
  // A page of the same kind may only change what it says.
  const isLoaded = isFirst || process.env.OK_PROVE || page.url() === 'about:blank' || kindOf(page.url()) === kindOf(path);
  if (isLoaded) await page.goto(path);
  else {
    await page.evaluate((to) => {
      document.querySelector('h1').dataset.left = '';
      window.history.pushState({}, '', to);
    }, path);
  }
  await page.locator('h1:not([data-left])').first().waitFor();
  await settled(page);
}

/** Waits until nothing is being loaded any more, and what came of it is painted. */
export async function settled(page) {
  const isLoading = () => document.querySelectorAll('[role=status][aria-label="loading"]').length > 0;
  const painted = () => new Promise((resolve) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(resolve)), { timeout: 1_000 }));
  const end = Date.now() + 10_000;
  // What has come may ask for more once it is drawn.
  for (let quiet = 0; quiet < 2; ) {
    await page.evaluate(painted);
    quiet = waiting.get(page).size === 0 && !(await page.evaluate(isLoading)) ? quiet + 1 : 0;
    if (Date.now() > end) throw new Error(`${page.url()} still waits for ${[...waiting.get(page)].map((request) => request.url())}`);
  }
}

/** By what they look at and how: contexts that nobody is in. Who has signed in is known to the tab alone; the next goes on with the files that are there. */
const free = new Map();

/** Runs with the page of whoever has this token; nothing may have gone wrong on it. `fresh`: in a browser that has seen none of the workspace's files. */
export async function visit(browser, address, token, run, { fresh = false, ...options } = {}) {
  const look = JSON.stringify([address, options]);
  const known = free.get(look) ?? [];
  free.set(look, known);
  // A tab behind another is drawn seldom: each page stands in a window of its own.
  const context = (fresh ? undefined : known.pop()) ?? (await newContext(browser, address, options));
  const faults = [];
  const tabs = [];
  const tab = async () => {
    tabs.push(await tabOf(context, token, faults));
    return tabs.at(-1);
  };
  let isSound = false;
  try {
    await run(await tab(), { context, faults, tab });
    assert.deepEqual(faults, []);
    isSound = true;
  } finally {
    if (isSound && !fresh) {
      for (const one of tabs) await one.close();
      known.push(context);
    } else {
      await context.close();
    }
  }
}
