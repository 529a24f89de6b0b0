// How long somebody waits for a page on a slow laptop: Chromium slowed four times, a company of 10,000 events and 1,000
// approvals that wait. Says the median of `RUNS`, cold (nothing kept) and warm (files kept from before).
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executablePath, FLAGS, WIDE } from './browser.mjs';
import { Company, populate } from './company.mjs';

const RUNS = Number(process.env.RUNS ?? 5);
const SLOWER = Number(process.env.SLOWER ?? 4);
const EVENTS = 10_000;
const PENDING = 1_000;

/** A page, what somebody waits for on it, and who it is. */
const PAGES = {
  home: ['/', 'main time', 'ana'],
  log: ['/log', 'main a[href^="/log/"]', 'ana'],
  approvals: ['/approvals', 'main a[href^="/approvals/apr_"]', 'sam'],
  tasks: ['/tasks', 'main a[href^="/tasks/tsk_"]', 'ana'],
  policy: ['/policy?file=production.cedar', '[aria-label="text of production.cedar"]', 'ana'],
  editor: ['/policy?file=production.cedar', '.cm-line', 'ana'],
  people: ['/people', 'main a[href^="/people/"]', 'ana'],
};

/** Does `one` so many times, a few at once. */
async function many(count, one, atOnce = 4) {
  let at = 0;
  const work = async () => {
    while (at < count) await one(at++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Nobody may have more than a hundred requests open: one lead after the other asks. */
async function fill(company) {
  const { tokens } = company;
  const ask = (who, path, body, method = 'POST') => company.ask(tokens[who], method, path, body);
  for (let from = 0; from < PENDING; from += 100) {
    const id = `lead${from}`;
    await ask('ana', '/api/actors', { id, kind: 'person', role: 'lead', team: 'team:engineering' });
    tokens[id] = company.token(id);
    await ask('ana', '/api/actors/team:engineering', { lead: id }, 'PATCH');
    await many(100, (at) => ask(id, '/api/actors/max/offboard', { reason: `request ${from + at}` }));
  }
  const { last_seq } = await company.ask(tokens.ana, 'GET', '/api/events?limit=1');
  await many(EVENTS - last_seq, (at) => ask('ana', '/api/tasks', { title: `Task ${at}` }));
}

/** Chromium, driven by as little as can be: what enables a debugger, as playwright does, has a program parsed anew for the place of each
 * error that it makes, as React does when it begins. */
class Chromium {
  #waiting = new Map();
  #last = 0;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'ok-speed-'));
    const args = [...FLAGS, '--headless=new', '--remote-debugging-pipe', `--user-data-dir=${this.folder}`];
    this.process = spawn(executablePath, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let text = '';
    this.process.stdio[4].on('data', (part) => {
      const messages = (text + part).split('\0');
      text = messages.pop();
      for (const { id, result, error } of messages.map(JSON.parse)) {
        const { resolve, reject } = this.#waiting.get(id) ?? {};
        this.#waiting.delete(id);
        if (error) reject?.(new Error(error.message));
        else resolve?.(result);
      }
    });
  }

  /** One command of the DevTools protocol: <https://chromedevtools.github.io/devtools-protocol/>. */
  send(method, params = {}, sessionId = undefined) {
    const id = (this.#last += 1);
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** A tab of somebody who has never been here, slowed; `close` forgets it. */
  async tab(first) {
    const { browserContextId } = await this.send('Target.createBrowserContext');
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank', browserContextId, ...WIDE });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const send = (method, params) => this.send(method, params, sessionId);
    await send('Page.enable');
    await send('Page.addScriptToEvaluateOnNewDocument', { source: first });
    await send('Emulation.setDeviceMetricsOverride', { ...WIDE, deviceScaleFactor: 1, mobile: false });
    await send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    return { send, close: () => this.send('Target.disposeBrowserContext', { browserContextId }) };
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** In the page: when `selector` is there, and when the last long piece of work after it has ended. */
function watch(token, selector) {
  sessionStorage.setItem('ok.token', token);
  const seen = { at: 0, busyUntil: 0 };
  window.seen = seen;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.busyUntil = Math.max(seen.busyUntil, startTime + duration);
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    if (seen.at || !document.querySelector(selector)) return;
    seen.at = performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
}

/** In the page: from the address to the page that answers, once nothing has held a key press back for half a second. */
const QUIET = `(() => {
  const { at, busyUntil } = window.seen ?? {};
  const until = Math.max(at, busyUntil);
  return at && performance.now() > until + 500 ? [at, until] : undefined;
})()`;

async function wait({ send }) {
  for (let tries = 0; tries < 600; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { result } = await send('Runtime.evaluate', { expression: QUIET, returnByValue: true });
    if (result.value) return result.value;
  }
  throw new Error('the page did not come');
}

async function measure(browser, company, [path, selector, who]) {
  const tab = await browser.tab(`(${watch})(${JSON.stringify(company.tokens[who])}, ${JSON.stringify(selector)})`);
  await tab.send('Page.navigate', { url: company.address + path });
  const cold = await wait(tab);
  await tab.send('Page.reload');
  // What is there before it is no answer.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const warm = await wait(tab);
  await tab.close();
  return { cold, warm };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const shown = (runs) => ['content', 'interactive'].map((name, at) => `${name} ${(median(runs.map((one) => one[at])) / 1000).toFixed(2)} s`).join(', ');

const company = await Company.create();
const browser = new Chromium();
try {
  await populate(company);
  await fill(company);
  for (const [name, page] of Object.entries(PAGES).filter(([one]) => process.argv.length < 3 || process.argv.includes(one))) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) runs.push(await measure(browser, company, page));
    console.log(`${name.padEnd(10)} cold: ${shown(runs.map(({ cold }) => cold))}; warm: ${shown(runs.map(({ warm }) => warm))}`);
  }
} finally {
  await browser.close();
  await company.remove();
}
