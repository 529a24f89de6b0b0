// Debian's Chromium, and what is watched on every page: errors on the console, violations of the page's policy.
import assert from 'node:assert/strict';
import { readFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = () => existsSync(executablePath);

const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

export const launch = () => chromium.launch({ executablePath, args: FLAGS });

/** A context of somebody who is signed in. What goes wrong on its pages is collected in `faults`. */
export async function signedIn(browser, address, token, { viewport = WIDE, colorScheme = 'light', hasTouch = false } = {}) {
  const context = await browser.newContext({ baseURL: address, viewport, colorScheme, hasTouch, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  context.setDefaultTimeout(10_000);
  const faults = [];
  context.on('console', (message) => {
    // A refused request is an answer, and Chromium logs it; so is a server that is being restarted.
    const isAnswer = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isAnswer) faults.push(message.text());
  });
  context.on('weberror', (error) => faults.push(String(error.error())));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  const page = await context.newPage();
  await page.goto(`/#token=${token}`);
  await page.getByRole('navigation', { name: 'Pages' }).or(page.getByRole('button', { name: 'Menu' })).first().waitFor();
  return { context, page, faults };
}

/** What axe finds. */
export async function findings(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary.split('\n').slice(1, 3).join(' ').trim()})`).slice(0, 3).join('; ')}`);
}

/** Waits until nothing is being loaded any more, and what came of it is painted. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelectorAll('[role=status][aria-label="loading"]').length === 0, undefined, { timeout: 10_000 });
  await page.waitForTimeout(150);
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
}

/** Runs with the page of whoever has this token; nothing may have gone wrong on it. */
export async function visit(browser, address, token, run, options) {
  const session = await signedIn(browser, address, token, options);
  try {
    await run(session.page, session);
    assert.deepEqual(session.faults, []);
  } finally {
    await session.context.close();
  }
}
