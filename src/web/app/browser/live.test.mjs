// What somebody sees and does on an open page while others are at work: in the demo, with the people who are in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from './browser.mjs';
import { Company } from './company.mjs';
import { as, company, share } from './stage.mjs';

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
    for (const [ms, isCounted] of [[350, false], [150, false], [150, true], [600, false]]) {
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
