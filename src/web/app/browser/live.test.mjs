// What somebody sees and does on an open page while others are at work: in the demo, with the people who are in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from './browser.mjs';
import { Company } from './company.mjs';
import { as, ask, company, share } from './stage.mjs';

share(Company.demo);

/** What the page sends to addresses like this one. */
function sent(page, address) {
  const found = [];
  page.on('request', (request) => request.method() === 'POST' && address.test(request.url()) && found.push(new URL(request.url()).pathname));
  return found;
}

/** Clicks twice in the same place. `isCounted`: as a double click, as the browser counts it. */
async function clickTwice(page, button, ms, isCounted) {
  await button.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await button.boundingBox();
  const place = [x + width / 2, y + height / 2];
  await page.mouse.move(...place);
  // The pointer rests, and the page knows it.
  await page.waitForTimeout(800);
  await page.mouse.click(...place);
  await page.waitForTimeout(ms);
  await page.mouse.click(...place, { clickCount: isCounted ? 2 : 1 });
  await page.waitForTimeout(900);
}

test('two clicks on Approve decide one request', { timeout: 60_000 }, async () => {
  await as('ben', async (page) => {
    const decided = sent(page, /\/api\/approvals\/\w+$/);
    await page.goto('/approvals');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await settled(page);
    // By key, too.
    await page.getByRole('button', { name: 'Approve' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForTimeout(350);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(900);
    assert.equal(decided.length, 1);
    for (const [ms, isCounted] of [[350, false], [150, true], [600, false]]) {
      const before = decided.length;
      const title = await page.getByRole('heading', { level: 1 }).textContent();
      await clickTwice(page, page.getByRole('button', { name: 'Approve' }), ms, isCounted);
      assert.equal(decided.length, before + 1, `${ms} ms, «${title}»: ${decided.slice(before)}`);
      await page.waitForFunction((was) => document.querySelector('h1')?.textContent !== was, title);
    }
    assert.equal(await page.getByText('That did not work').count(), 0);
  });
});

test('two clicks on Accept accept one entry of the knowledge', async () => {
  for (const at of [1, 2]) await company.ask(company.tokens.mia, 'POST', '/api/knowledge', { statement: `Grinder ${at} takes eighteen grams`, topics: ['grinders'] });
  await as('ben', async (page) => {
    const accepted = sent(page, /\/accept$/);
    await page.goto('/data');
    const buttons = page.getByRole('row', { name: /proposed/ }).getByRole('button', { name: 'Accept' });
    await buttons.first().waitFor();
    await settled(page);
    assert.ok((await buttons.count()) >= 3);
    for (const ms of [400, 150]) {
      const before = accepted.length;
      await clickTwice(page, buttons.first(), ms, false);
      assert.equal(accepted.length, before + 1, `${ms} ms: ${accepted.slice(before)}`);
    }
  });
});

const kill = (scope, body) => company.ask(company.tokens.ana, 'POST', '/api/kill', { scope, reason: 'a rehearsal', ...body }, [200, 409, 422]);

const release = (scope) => kill(scope, { off: true });

/** Engages a kill switch, which is released at the end in any case. */
async function stop(t, scope) {
  t.after(() => release(scope));
  await kill(scope, {});
}

const denied = async (who) => (await company.ask(company.tokens.ana, 'GET', `/api/events?type=denied&actor=${who}&limit=1000`)).events.length;

test('who is stopped is told so, asks for nothing more, and goes on by themselves once they are released', { timeout: 60_000 }, async (t) => {
  await as('ivy', async (page) => {
    await page.clock.install();
    await page.goto('/tasks');
    const create = page.getByRole('button', { name: 'New task' });
    await create.waitFor();
    await settled(page);
    await stop(t, 'actor:ivy');
    await page.getByText(/You are stopped: a kill switch stops this actor \(ana: .+\)\./).waitFor({ timeout: 10_000 });
    await page.locator('button[aria-disabled=true]', { hasText: 'New task' }).waitFor();
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const before = await denied('ivy');
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.waitForTimeout(3_000);
    assert.deepEqual(asked.filter((path) => path.startsWith('/api/') && path !== '/api/health'), []);
    assert.equal(await denied('ivy'), before);
    assert.ok(before < 12, `${before} refusals`);
    await page.getByRole('link', { name: 'Tasks' }).first().click();
    // It looks by itself, each time later: here the clock is ahead.
    await page.clock.fastForward(31_000);
    await page.waitForTimeout(500);
    assert.deepEqual(asked.filter((path) => path === '/api/me'), ['/api/me']);
    await release('actor:ivy');
    await page.clock.fastForward(61_000);
    await page.getByText('You are stopped').waitFor({ state: 'hidden' });
    await page.locator('button:not([aria-disabled])', { hasText: 'New task' }).waitFor();
  });
  await stop(t, 'actor:ivy');
  await as('ivy', async (page) => {
    await page.goto('/');
    await page.getByRole('heading', { name: 'You are stopped' }).waitFor();
    await release('actor:ivy');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  });
});

test('that everything is stopped, and goes on, is soon seen on the pages of others', { timeout: 60_000 }, async (t) => {
  const soon = { timeout: 8_000 };
  await as('nora', async (page) => {
    await page.goto('/tasks');
    const can = page.locator('button:not([aria-disabled])', { hasText: 'New task' });
    await can.waitFor();
    await settled(page);
    await page.waitForTimeout(1_000);
    await stop(t, 'global');
    await page.getByText('Everything is stopped.').waitFor(soon);
    await page.locator('button[aria-disabled=true]', { hasText: 'New task' }).waitFor();
    await page.getByRole('link', { name: 'Ask' }).first().click();
    await page.getByText('A kill switch stops every change.').waitFor();
    await page.getByRole('link', { name: 'Tasks' }).first().click();
    await page.locator('button[aria-disabled=true]', { hasText: 'New task' }).waitFor();
    await release('global');
    await page.getByText('Everything is stopped.').waitFor({ state: 'hidden', ...soon });
    await can.waitFor();
  });
});

test('runs that a kill switch holds, and that go on, are soon shown as they are', { timeout: 60_000 }, async (t) => {
  const soon = { timeout: 8_000 };
  await as('lea', async (page) => {
    await page.goto('/ask');
    const held = page.getByRole('main').getByRole('link').filter({ hasText: 'held' });
    await page.getByRole('main').getByRole('link').filter({ hasText: 'waits for' }).first().waitFor();
    assert.equal(await held.count(), 0);
    await stop(t, 'actor:triage');
    await held.first().waitFor(soon);
    await release('actor:triage');
    await held.first().waitFor({ state: 'detached', ...soon });
  });
});

test('a record that somebody else changes changes on the page', async () => {
  const path = '/api/brain/collections/invoices/records';
  const [{ id }] = await company.ask(company.tokens.sam, 'GET', `${path}?limit=1`);
  for (const [who, due] of [['nora', '2027-03-21'], ['lea', '2027-03-22']]) {
    await as(who, async (page) => {
      await page.goto('/data/invoices');
      await page.getByRole('table').waitFor();
      await settled(page);
      await page.waitForTimeout(2_500);
      await company.ask(company.tokens.sam, 'PATCH', `${path}/${id}`, { fields: { due } });
      await page.getByText(due).waitFor({ timeout: 9_000 });
    });
  }
});

test('an approval names its policies by what they do', async () => {
  const list = await ask('ana', '/api/approvals?limit=50');
  const explained = await Promise.all(list.map(({ id }) => ask('ana', `/api/approvals/${id}/explain`)));
  const { id } = explained.find(({ because }) => because.some(({ text }) => /^permit/m.test(text ?? '')));
  await as('ana', async (page) => {
    await page.goto(`/approvals/${id}`);
    await page.getByText('By now, this would permit it:').waitFor();
    await page.getByText('permit', { exact: true }).first().waitFor();
    assert.equal(await page.getByText('forbid', { exact: true }).count(), 0);
  });
});

test('after a choice is made, letters are the page’s again', async () => {
  await as('ana', async (page) => {
    await page.goto('/approvals');
    await page.getByRole('radio', { name: 'All' }).check({ force: true });
    await page.waitForURL(/show=all/);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
    const title = await page.getByRole('heading', { level: 1 }).textContent();
    await page.keyboard.press('j');
    await page.waitForFunction((was) => document.querySelector('h1')?.textContent !== was, title);
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: 'Log' }).waitFor();
    await page.getByRole('combobox', { name: 'decision' }).click();
    await page.getByRole('option', { name: 'denied' }).click();
    await page.waitForURL(/decision=deny/);
    await settled(page);
    await page.keyboard.press('j');
    await page.waitForURL(/\/log\/\d+/);
  });
});
