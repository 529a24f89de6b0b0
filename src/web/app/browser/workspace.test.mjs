// What people do and decide in the workspace: approvals, policies, tokens, kill switches, the log.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings, settled, signedIn } from './browser.mjs';
import { Company, populate } from './company.mjs';
import { as, browser, company, share } from './stage.mjs';

share(Company.create, populate);

test('an approval passes two teams and an admin, live', async () => {
  await as('pia', async (pia) => {
    await pia.goto('/approvals');
    const asked = pia.getByRole('link', { name: /lea offboards noor/ });
    await asked.click();
    await pia.getByText('offboarding takes platform and security').first().waitFor();
    await as('sam', async (sam) => {
      await sam.goto(pia.url().replace(company.address, ''));
      await sam.getByText('Who decides').waitFor();
      await pia.keyboard.press('a');
      await pia.keyboard.type('seen with their team');
      await pia.keyboard.press('Control+Enter');
      await pia.getByText(/^Your approval counts; still needed: .*lea offboards noor/).waitFor();
      await pia.getByRole('heading', { name: 'lea offboards max' }).waitFor();
      await sam.getByText('seen with their team').waitFor({ timeout: 8_000 });
      await sam.getByRole('button', { name: 'Approve' }).click();
      await sam.getByText(/^Your approval counts; still needed: .*lea offboards noor/).waitFor();
    });
  });
  await as('ana', async (ana) => {
    await ana.goto('/approvals');
    await ana.getByRole('link', { name: /lea offboards noor/ }).click();
    await ana.getByRole('button', { name: 'Approve' }).click();
    await ana.getByText('Approved and carried out: lea offboards noor').waitFor();
    await ana.goto('/approvals?show=all');
    await ana.getByRole('link', { name: /lea offboards noor.*carried out/ }).waitFor();
  });
  await as('lea', async (lea) => {
    await lea.goto('/approvals?show=asked');
    await lea.getByRole('link', { name: /lea offboards noor.*carried out/ }).waitFor();
  });
});

test('whoever has approved can still reject what others have to approve', async () => {
  await company.ask(company.tokens.ana, 'POST', '/api/actors', { id: 'zed', kind: 'person', team: 'team:engineering' });
  const { approval } = await company.ask(company.tokens.lea, 'POST', '/api/actors/zed/offboard', { reason: 'moves on' });
  await as('pia', async (page) => {
    await page.goto(`/approvals/${approval}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/^Your approval counts; still needed/).waitFor();
    await page.goto(`/approvals/${approval}`);
    await page.getByText('You have approved this, and can still reject it.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.deepEqual(await findings(page), []);
    await page.keyboard.press('r');
    await page.keyboard.type('zed stays');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Rejected: lea offboards zed').waitFor();
  });
});

test('a note that was not sent outlives the token that it was written with', async () => {
  const { id, token } = JSON.parse(company.ok(['--as', 'pia', '--format', 'json', 'token', 'issue', '--label', 'short']));
  const { page, context } = await signedIn(browser, company.address, token);
  await page.goto('/approvals');
  await page.getByRole('link', { name: /lea offboards max/ }).click();
  await page.getByLabel('Note').fill('not before noon');
  company.ok(['--as', 'pia', 'token', 'revoke', id]);
  await page.getByText('The server no longer accepts your token').waitFor({ timeout: 10_000 });
  await page.getByLabel('Token', { exact: true }).fill(company.tokens.pia);
  await page.getByRole('button', { name: 'Sign in' }).click();
  assert.equal(await page.getByLabel('Note').inputValue(), 'not before noon');
  await context.close();
});

test('two tabs decide one approval: the second is told', async () => {
  await as('pia', async (first, { tab }) => {
    await first.goto('/approvals');
    await first.getByRole('link', { name: /lea offboards max/ }).click();
    await first.getByRole('button', { name: 'Reject' }).waitFor();
    const second = await tab();
    await second.goto(first.url());
    await second.getByRole('button', { name: 'Reject' }).waitFor();
    // The second tab hears nothing of the first one's decision before it decides itself.
    await second.route('**/api/{approvals,events}**', (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()));
    await first.getByRole('button', { name: 'Reject' }).click();
    await first.getByText('Say why, or reject once more').waitFor();
    await first.getByRole('button', { name: 'Reject' }).click();
    await first.getByText('Rejected: lea offboards max').waitFor();
    await second.getByRole('button', { name: 'Reject' }).click();
    await second.getByRole('button', { name: 'Reject' }).click();
    await second.getByText('That did not work').or(second.getByText('Refused')).first().waitFor();
  });
});

test('a policy is broken and mended as one types', async () => {
  await as('ana', async (page) => {
    await page.goto('/policy?file=production.cedar');
    const editor = page.locator('.cm-content');
    await page.getByText('can come into force').waitFor();
    await editor.click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('// 🦊 é €\npermit (principal, action, resource) when { principal.kynd == "agent" };\n');
    await page.getByText('has errors').waitFor();
    const squiggle = page.locator('.cm-lintRange-error').first();
    await squiggle.waitFor();
    assert.match((await page.locator('.cm-lintRange-error').allTextContents()).join(''), /kynd/);
    await page.getByRole('button', { name: /kynd/ }).first().waitFor();
    await page.keyboard.press('Control+z');
    await page.getByText('can come into force').waitFor();
    // What no test covers is marked in the text, and listed for who wants to know.
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('\n@id("mole")\n@reason("the mole stops nothing")\nforbid (\n  principal == Ok::Actor::"mole",\n  action == Ok::Action::"kill",\n  resource\n);\n');
    await page.getByRole('button', { name: '1 part of this file is not' }).click();
    await page.getByRole('button', { name: /no test of `mole` has seen .* true/ }).waitFor();
    // So is whom nobody knows.
    await page.getByRole('button', { name: /names the actor `mole`, which does not exist/ }).waitFor();
    const marked = await page.locator('.cm-lintRange-hint, .cm-lintRange-info').allTextContents();
    assert.equal([...new Set(marked)].sort().join(' '), 'Ok::Actor::"mole" principal == ');
    await page.getByRole('searchbox', { name: 'filter files' }).fill('duction');
    assert.deepEqual(await page.getByRole('navigation', { name: 'Files' }).getByRole('button').allTextContents(), ['production.cedar', 'New file']);
    assert.deepEqual(await findings(page), []);
  });
});

test('a draft is compared, proposed, tested, reviewed, approved by two teams and in force', async () => {
  let address;
  await as('ana', async (page) => {
    await page.goto('/policy');
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByLabel('Path').fill('quiet.cedar');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('@id("agents-stop-nothing")\n@reason("agents stop nothing")\nforbid (\n  principal in Ok::Role::"agent",\n  action == Ok::Action::"kill",\n  resource\n);\n');
    await page.getByText('can come into force').waitFor();
    await page.getByRole('button', { name: 'Compare and propose' }).click();
    await page.getByText('Impact').waitFor();
    await page.getByLabel('Why').fill('agents have no business with kill switches');
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByRole('heading', { name: 'agents have no business with kill switches' }).waitFor();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await page.getByText('The tests ran').waitFor();
    await page.getByText('You proposed this: somebody else reviews it.').waitFor();
    address = new URL(page.url()).pathname;
  });
  await as('bo', async (page) => {
    await page.goto(address);
    await page.getByLabel('Note').fill('as agreed');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('«as agreed»').waitFor();
    await page.getByRole('button', { name: /Bring into force/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Bring into force' }).click();
    await page.getByRole('link', { name: 'See who decides' }).waitFor();
    const pending = await company.ask(company.tokens.bo, 'GET', '/api/approvals?status=pending');
    const waiting = pending.find(({ action }) => action === 'change.promote');
    for (const who of ['pia', 'sam']) await company.ask(company.tokens[who], 'POST', `/api/approvals/${waiting.id}`, { decision: 'approve' });
    await page.getByText('came into force as').waitFor({ timeout: 15_000 });
    await page.goto('/policy/history');
    await page.getByRole('row', { name: /^3 .*in force/ }).waitFor();
    await page.getByRole('row', { name: /^2 .*Roll back/ }).waitFor();
  });
});

test('a change is tried beside what is in force, and its author takes it back', async () => {
  await as('ana', async (page) => {
    const change = await company.ask(company.tokens.ana, 'POST', '/api/policy/proposals', { version: 2, reason: 'back to where we were' });
    await page.goto(`/policy/changes/${change.id}`);
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await page.getByText('The tests ran').waitFor();
    // Whether it may be tried is asked anew once the tests have run.
    await page.locator('button:not([aria-disabled])', { hasText: 'Try beside what is in force' }).click();
    await page.getByLabel('Share of decisions, percent').fill('100');
    await page.getByRole('button', { name: 'Start the canary' }).click();
    await page.getByText('100 % of decisions, live').waitFor();
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('100 % of decisions, ended').waitFor();
    await page.getByText('withdrawn').first().waitFor();
  });
});

test('a refusal is explained, and the answer has an address', async () => {
  await as('ana', async (page) => {
    await page.goto('/log?type=denied&actor=max');
    await page.locator('a', { hasText: /^\d+$/ }).first().click();
    await page.getByRole('link', { name: 'Why was this refused?' }).click();
    await page.getByRole('heading', { name: 'may not' }).waitFor();
    const shared = page.url();
    await as('bo', async (other) => {
      await other.goto(shared);
      await other.getByRole('heading', { name: 'may not' }).waitFor();
      await other.getByText('Nearly permitted by').or(other.getByText('These stand in the way')).first().waitFor();
    });
  });
});

test('a token is issued once, and revoked in mid-use', async () => {
  await as('tom', async (page) => {
    await page.goto('/me');
    assert.ok(await page.getByRole('radio', { name: '30' }).isChecked());
    await page.getByLabel('What is it for?').fill('laptop');
    await page.getByRole('button', { name: 'Issue' }).click();
    const token = await page.getByTestId('token').textContent();
    const me = await company.ask(token, 'GET', '/api/me');
    assert.equal(me.id, 'tom');
    await page.getByRole('button', { name: 'I have it' }).click();
    assert.ok(!(await page.content()).includes(token));
    const { page: other, context } = await signedIn(browser, company.address, token);
    await other.goto('/');
    await other.getByRole('heading', { name: /Tom/ }).waitFor();
    const row = page.getByRole('row', { name: /laptop/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
    await other.getByText('The server no longer accepts your token').waitFor({ timeout: 8_000 });
    await context.close();
  });
});

test('what was done with a token is a click away, and a request that was made with one that was revoked says so', async () => {
  const { token, id } = await company.ask(company.tokens.lea, 'POST', '/api/tokens', { label: 'left in a script' });
  await company.ask(token, 'POST', '/api/kill', { scope: 'global', reason: 'not lea' }, [403]);
  const { approval } = await company.ask(token, 'POST', '/api/actors', { id: 'mallory', kind: 'person', team: 'team:engineering' });
  await as('lea', async (page) => {
    await page.goto('/me');
    await page.getByRole('row', { name: /left in a script/ }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByText('What was begun with it goes on: 1 request for approval.').waitFor();
    assert.deepEqual(await findings(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('1 request for approval made with it still waits').waitFor();
    await page.getByRole('link', { name: 'what was done with it: left in a script' }).click();
    await page.getByLabel('token', { exact: true }).first().waitFor();
    for (const done of ['issued', 'mallory', 'revoked']) await page.getByRole('main').getByText(done).first().waitFor();
    assert.equal(new URL(page.url()).searchParams.get('token'), id);
    assert.deepEqual(await findings(page), []);
  });
  await as('bo', async (page) => {
    await page.goto(`/approvals/${approval}`);
    await page.getByRole('note').getByText('was revoked').waitFor();
    assert.deepEqual(await findings(page), []);
    const { events } = await company.ask(company.tokens.bo, 'GET', `/api/events?token_id=${id}&type=approval_requested`);
    await page.goto(`/log/${events[0].seq}`);
    await page.getByRole('link', { name: 'all that was done with it' }).click();
    await page.getByLabel('token', { exact: true }).first().waitFor();
  });
});

test('what was requested with a token is ended with it', async () => {
  const { token } = await company.ask(company.tokens.lea, 'POST', '/api/tokens', { label: 'stolen' });
  const { approval } = await company.ask(token, 'POST', '/api/actors', { id: 'eve', kind: 'person', team: 'team:engineering' });
  await as('lea', async (page) => {
    await page.goto('/me');
    await page.getByRole('row', { name: /stolen/ }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByLabel('Also end the open requests').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /stolen/ }).getByText('revoked').waitFor();
  });
  assert.equal((await company.ask(company.tokens.bo, 'GET', `/api/approvals/${approval}`)).status, 'stale');
});

test('a kill switch is seen on every page until it is released', async () => {
  await as('ana', async (page) => {
    await as('bo', async (other) => {
      // The one page reads the switches before the other engages one, and its first events after.
      let engaged;
      const isEngaged = new Promise((resolve) => (engaged = resolve));
      await other.route('**/api/events?limit=200', (route) => isEngaged.then(() => route.continue()));
      // The page that it leaves may still be reading them.
      const isOfThis = (answer) => answer.url().endsWith('/api/kill') && other.url().endsWith('/people');
      const switches = other.waitForResponse(isOfThis);
      await other.goto('/people');
      await switches;
      await page.goto('/kill');
      await page.getByRole('combobox', { name: 'Who' }).click();
      await page.getByRole('option', { name: /Deployer/ }).click();
      await page.getByLabel('Why').fill('it rolls back what it deployed');
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await page.getByText('«it rolls back what it deployed»').waitFor();
      const asked = [];
      other.on('request', (request) => asked.push(new URL(request.url())));
      engaged();
      await other.getByText('A kill switch is engaged: actor:deployer.').waitFor({ timeout: 30_000 });
      // At once, not when the switches are read anew in any case.
      const read = (path, is) => asked.findIndex(({ pathname, search }) => pathname === path && is(search));
      const [again, later] = [read('/api/kill', () => true), read('/api/events', (search) => search.includes('since='))];
      assert.ok(again >= 0 && (later < 0 || again < later), `${again} ${later}: ${asked.map(({ pathname, search }) => pathname + search).join(" ")}`);
      await page.getByRole('button', { name: 'Release' }).click();
      await page.getByLabel('Why is it safe again?').fill('mended');
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
      await page.getByText('Nothing is stopped').waitFor();
      await other.getByText('A kill switch is engaged').waitFor({ state: 'hidden', timeout: 14_000 });
    });
  });
});

test('the log is live, and an event is verified in the browser', async () => {
  await as('ana', async (page) => {
    await page.goto('/log');
    await settled(page);
    await company.ask(company.tokens.bo, 'POST', '/api/actors', { id: 'kim', kind: 'person', name: 'Kim Sørensen' });
    await page.getByText('added Kim Sørensen as member').waitFor();
    await page.getByText('added Kim Sørensen as member').click();
    await page.getByText('Verified in this browser').waitFor();
    await page.route('**/api/audit/proof/*', async (route) => {
      const answer = await route.fetch();
      const proof = await answer.text();
      await route.fulfill({ response: answer, body: proof.replace(/index \d+/, 'index 3') });
    });
    await page.goto('/log/9');
    await page.getByText('This event does not verify').waitFor();
  });
  await as('max', async (page) => {
    await page.goto('/log/9');
    await page.getByText('Only admins and auditors read the audit').or(page.getByText('not yours to see')).first().waitFor();
  });
});

test('whoever has scrolled down the log goes on looking at the same events', async () => {
  await as('ana', async (page) => {
    await page.goto('/log');
    await settled(page);
    const row = page.getByRole('region', { name: 'Events' }).locator('a[href^="/log/"]').nth(8);
    await row.hover();
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(300);
    const seen = page.locator(`a[href="${await row.getAttribute('href')}"]`);
    const before = await seen.boundingBox();
    const [{ seq }] = (await company.ask(company.tokens.ana, 'GET', '/api/events?limit=1')).events;
    await company.ask(company.tokens.bo, 'POST', '/api/actors', { id: 'lou', kind: 'person', name: 'Lou' });
    await page.waitForResponse(async (answer) => answer.url().includes('since=') && (await answer.json()).last_seq > seq);
    await page.waitForTimeout(300);
    assert.equal((await seen.boundingBox())?.y, before.y);
  });
});
