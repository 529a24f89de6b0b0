// How long somebody waits for a page on a slow laptop: Chromium slowed four times, a company of 10,000 events and 1,000
// approvals that wait. Says the median of `RUNS`, cold (nothing kept) and warm (files kept from before).
import { launch, WIDE } from './browser.mjs';
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

/** In the page: when `selector` is there, and when the last long piece of work after it has ended. Whatever is watched by a debugger, as
 * here, parses a program anew for the place of each error that it makes, as React does when it begins: nobody else waits for that. */
function watch([token, selector]) {
  Error.stackTraceLimit = 0;
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

/** From the address to the page that answers: its content is there, and nothing holds a key press back for half a second. */
async function wait(page) {
  await page.waitForFunction(() => window.seen?.at && performance.now() > Math.max(window.seen.at, window.seen.busyUntil) + 500, undefined, { polling: 100, timeout: 60_000 });
  return page.evaluate(() => [window.seen.at, Math.max(window.seen.at, window.seen.busyUntil)]);
}

async function measure(browser, company, [path, selector, who]) {
  const context = await browser.newContext({ baseURL: company.address, viewport: WIDE });
  await context.addInitScript(watch, [company.tokens[who], selector]);
  const page = await context.newPage();
  const slow = await context.newCDPSession(page);
  await slow.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await page.goto(path);
  const cold = await wait(page);
  await page.reload();
  const warm = await wait(page);
  await context.close();
  return { cold, warm };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const shown = (runs) => ['content', 'interactive'].map((name, at) => `${name} ${(median(runs.map((one) => one[at])) / 1000).toFixed(2)} s`).join(', ');

const company = await Company.create();
const browser = await launch();
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
