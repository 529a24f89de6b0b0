// The workspace in a real browser against the real binary. `OK_PROVE=1` looks at every page in every size and theme.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { findings, launch, NARROW, settled, signedIn, visit } from './browser.mjs';
import { Company, populate } from './company.mjs';
import { pages, shoot } from './shots.mjs';

let company;
let made;
let browser;
const pictures = process.env.OK_PICTURES ?? join(import.meta.dirname, '../node_modules/.pictures');

before(async () => {
  company = await Company.create();
  made = await populate(company);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await company?.remove();
});

const as = (who, run, options) => visit(browser, company.address, made.tokens[who], run, options);

test('every page stands in every size and theme, and axe finds nothing', { timeout: 240_000 }, async () => {
  const all = await pages(company, made);
  const sides = process.env.OK_PROVE ? undefined : ['wide light', 'narrow dark', 'wide dark', 'narrow light'];
  assert.deepEqual(await shoot(browser, company.address, made.tokens.ana, all, pictures, { sides }), []);
});

test('axe finds nothing in the palette, the dialogs and the menu', { timeout: 60_000 }, async () => {
  await as('ana', async (page) => {
    const dialogs = [
      ['/people/max', () => page.getByRole('button', { name: /Offboard/ }).click()],
      ['/people', () => page.getByRole('button', { name: 'Add' }).click()],
      ['/delegations', () => page.getByRole('button', { name: 'Delegate' }).click()],
      ['/settings', () => page.getByRole('button', { name: 'Create' }).click()],
      ['/', () => page.getByRole('button', { name: /Search or do/ }).click()],
    ];
    for (const [path, open] of dialogs) {
      await page.goto(path);
      await open();
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(300);
      assert.deepEqual(await findings(page), [], path);
    }
    await page.getByRole('textbox', { name: 'search' }).fill('kill');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Kill switches' }).waitFor();
  });
  await as(
    'ana',
    async (page) => {
      await page.getByRole('button', { name: 'Menu' }).click();
      const menu = page.getByRole('dialog');
      await menu.waitFor();
      await page.waitForTimeout(300);
      assert.deepEqual(await findings(page), []);
      await menu.getByRole('link', { name: 'Log' }).click();
      await page.getByRole('heading', { name: 'Log' }).waitFor();
    },
    { viewport: NARROW, colorScheme: 'dark' },
  );
});

test('a token is pasted, kept for the tab and forgotten on signing out', async () => {
  const context = await browser.newContext({ baseURL: company.address });
  const page = await context.newPage();
  await page.goto('/people?kind=agent');
  await page.getByLabel('Token', { exact: true }).fill('hunter2');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('a token begins with ok_').waitFor();
  await page.getByLabel('Token', { exact: true }).fill(made.tokens.max);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await page.getByText('Scout').first().waitFor();
  assert.equal(new URL(page.url()).search, '?kind=agent', 'the page that was asked for');
  await page.reload();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await page.getByRole('button', { name: /Max Okafor/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('You are signed out').waitFor();
  assert.equal(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }).includes('ok_')), false);
  await context.close();
});

test('a printed link signs in, and its token leaves the address', async () => {
  await as('max', async (page) => assert.ok(!page.url().includes(made.tokens.max)));
});

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
      await pia.getByText('Approved: lea offboards noor').waitFor();
      await pia.getByRole('heading', { name: 'lea offboards max' }).waitFor();
      await sam.getByText('seen with their team').waitFor({ timeout: 8_000 });
      await sam.getByRole('button', { name: 'Approve' }).click();
      await sam.getByText('Approved: lea offboards noor').waitFor();
    });
  });
  await as('ana', async (ana) => {
    await ana.goto('/approvals');
    await ana.getByRole('link', { name: /lea offboards noor/ }).click();
    await ana.getByRole('button', { name: 'Approve' }).click();
    await ana.getByText('Approved: lea offboards noor').waitFor();
    await ana.goto('/approvals?show=all');
    await ana.getByRole('link', { name: /lea offboards noor.*carried out/ }).waitFor();
  });
  await as('lea', async (lea) => {
    await lea.goto('/approvals?show=asked');
    await lea.getByRole('link', { name: /lea offboards noor.*carried out/ }).waitFor();
  });
});

test('two tabs decide one approval: the second is told', async () => {
  await as('pia', async (first, { context }) => {
    await first.goto('/approvals');
    await first.getByRole('link', { name: /lea offboards max/ }).click();
    await first.getByRole('button', { name: 'Reject' }).waitFor();
    const second = await context.newPage();
    await second.goto(`/#token=${made.tokens.pia}`);
    await second.goto(first.url());
    await second.getByRole('button', { name: 'Reject' }).waitFor();
    // The second tab hears nothing of the first one's decision before it decides itself.
    await second.route('**/api/{approvals,events}**', (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()));
    await first.getByRole('button', { name: 'Reject' }).click();
    await first.getByText('Rejected: lea offboards max').waitFor();
    await second.getByRole('button', { name: 'Reject' }).click();
    await second.getByText('That did not work').or(second.getByText('Refused')).first().waitFor();
  });
});

test('keys are taken as they are typed, however quick and however slow the machine', { timeout: 60_000 }, async () => {
  await as('ana', async (page) => {
    const slow = await page.context().newCDPSession(page);
    await page.goto('/policy?file=production.cedar');
    // Somebody goes for the text before the editor is there.
    await page.getByRole('region', { name: 'text of production.cedar' }).or(page.locator('.cm-content')).first().click();
    await page.locator('.cm-editor.cm-focused').waitFor();
    await slow.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.keyboard.press('Control+End');
    await page.keyboard.type('// as quick as can be', { delay: 3 });
    await page.keyboard.type(', and slower', { delay: 120 });
    await page.getByText('as quick as can be, and slower').waitFor();
    await page.waitForFunction(() => Object.values(JSON.parse(sessionStorage.getItem('ok.draft')).files)[0].endsWith('// as quick as can be, and slower'));
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.goto('/settings');
    const number = page.getByLabel('Approvals wait for');
    await number.click();
    for (const keys of ['123', '45']) {
      await page.keyboard.press('Control+a');
      await page.keyboard.type(keys, { delay: 3 });
    }
    await page.keyboard.press('Home');
    await page.keyboard.type('12');
    // Where the cursor is meanwhile is the field's own; it comes to rest, and takes what is typed then.
    await number.fill('45');
    assert.equal(await number.inputValue(), '45 hours');
    await slow.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  });
});

test('what could not be loaded while the server was gone comes when it is back', { timeout: 60_000 }, async () => {
  await as('ana', async (page, { context, faults }) => {
    // A browser on its own: the server stays for the other tests.
    await page.goto('/policy?file=production.cedar');
    await page.getByRole('region', { name: 'text of production.cedar' }).waitFor();
    await context.setOffline(true);
    await page.mouse.move(300, 300);
    await page.waitForTimeout(1_000);
    assert.equal(await page.locator('.cm-content').count(), 0, 'the editor came without a server');
    await context.setOffline(false);
    await page.locator('.cm-content').waitFor({ timeout: 15_000 });
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to, find, do…').waitFor();
    let isGone = true;
    for (const place of [/assets\/index-/, /ok\.svg/]) await page.route(place, (route) => (isGone ? route.abort() : route.continue()));
    await page.goto('/people');
    await page.getByText('The workspace could not be loaded').waitFor();
    isGone = false;
    await page.getByText('Max Okafor').first().waitFor({ timeout: 15_000 });
    faults.length = 0;
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
    await page.getByRole('button', { name: /names the actor `mole`, and there is none/ }).waitFor();
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
    await page.getByRole('link', { name: 'See who decides' }).waitFor();
    const pending = await company.ask(made.tokens.bo, 'GET', '/api/approvals?status=pending');
    const waiting = pending.find(({ action }) => action === 'change.promote');
    for (const who of ['pia', 'sam']) await company.ask(made.tokens[who], 'POST', `/api/approvals/${waiting.id}`, { decision: 'approve' });
    await page.getByText('came into force as').waitFor({ timeout: 15_000 });
    await page.goto('/policy/history');
    await page.getByRole('row', { name: /^3 .*in force/ }).waitFor();
    await page.getByRole('row', { name: /^2 .*Roll back/ }).waitFor();
  });
});

test('a change is tried beside what is in force, and its author takes it back', async () => {
  await as('ana', async (page) => {
    const change = await company.ask(made.tokens.ana, 'POST', '/api/policy/proposals', { version: 2, reason: 'back to where we were' });
    await page.goto(`/policy/changes/${change.id}`);
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await page.getByText('The tests ran').waitFor();
    // Whether it may be tried is asked anew once the tests have run.
    await page.locator('button:not([aria-disabled])', { hasText: 'Try beside what is in force' }).click();
    await page.getByLabel('Share of decisions, percent').fill('100');
    await page.getByRole('button', { name: 'Start the canary' }).click();
    await page.getByText('100 % of decisions, live').waitFor();
    await page.getByRole('button', { name: 'Take back' }).click();
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
    await other.getByRole('heading', { name: /Tom/ }).waitFor();
    const row = page.getByRole('row', { name: /laptop/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
    await other.getByText('The server no longer accepts your token').waitFor({ timeout: 8_000 });
    await context.close();
  });
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
    await company.ask(made.tokens.bo, 'POST', '/api/actors', { id: 'kim', kind: 'person', name: 'Kim Sørensen' });
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
    const row = page.getByRole('region', { name: 'Events' }).getByRole('link').nth(15);
    await row.hover();
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(300);
    const seen = page.getByRole('link', { name: await row.textContent(), exact: true });
    const before = await seen.boundingBox();
    const [{ seq }] = (await company.ask(made.tokens.ana, 'GET', '/api/events?limit=1')).events;
    await company.ask(made.tokens.bo, 'POST', '/api/actors', { id: 'lou', kind: 'person', name: 'Lou' });
    await page.waitForResponse(async (answer) => answer.url().includes('since=') && (await answer.json()).last_seq > seq);
    await page.waitForTimeout(300);
    assert.equal((await seen.boundingBox())?.y, before.y);
  });
});

test('whoever goes to another page from the palette by keyboard goes on in that page', async () => {
  await as('ana', async (page) => {
    await page.goto('/people');
    await settled(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').fill('Settings');
    await page.getByRole('dialog').getByRole('button', { name: /Settings/ }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/settings');
    await page.waitForFunction(() => document.activeElement?.id === 'content');
  });
});

test('what is typed right after the palette was asked for is kept whole on any page', async () => {
  await as('ana', async (page) => {
    for (const path of ['/log', '/people', '/log', '/tasks']) {
      await page.goto(path);
      await page.locator('h1').first().waitFor();
      await page.waitForTimeout(800);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('kiosk park', { delay: 70 });
      const field = page.getByRole('dialog').getByRole('textbox');
      await field.waitFor();
      await page.waitForFunction(() => document.querySelector('[data-palette]')?.value === 'kiosk park', undefined, { timeout: 3_000 });
    }
  });
});

test('looking at every page asks for nothing that is refused', { timeout: 60_000 }, async () => {
  const refusals = async () => (await company.ask(made.tokens.ana, 'GET', '/api/events?type=denied&actor=max&limit=1000')).events.length;
  const before = await refusals();
  await as('max', async (page) => {
    const list = await pages(company, made);
    // Asking about others is a question that somebody chose to ask.
    for (const name of ['home', 'approvals', 'log', 'event', 'policy', 'changes', 'history', 'people', 'person', 'agent', 'delegations', 'profile', 'kill', 'settings']) {
      await page.goto(list[name]);
      await page.locator('h1').first().waitFor();
      await settled(page);
    }
  });
  assert.equal(await refusals(), before);
});

test('a long list is read and drawn as far as it is scrolled', async () => {
  await as('pia', async (page) => {
    const [one] = await company.ask(made.tokens.ana, 'GET', '/api/approvals?limit=1');
    const many = Array.from({ length: 1000 }, (_, at) => ({ ...one, id: `${one.id.slice(0, -4)}${String(at).padStart(4, '0')}`, summary: `request ${at}` }));
    let read = 0;
    await page.route(/\/api\/approvals\?/, (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [from, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))];
      read = Math.max(read, from + limit);
      const next = from + limit < many.length ? { 'x-next-cursor': String(from + limit) } : {};
      return route.fulfill({ json: many.slice(from, from + limit), headers: next });
    });
    await page.goto('/approvals?show=all');
    await page.getByText('request 0', { exact: true }).waitFor();
    assert.ok(read <= 200, `${read} are read before anybody scrolls`);
    const rows = page.getByRole('region', { name: 'Approvals', exact: true }).getByRole('link');
    assert.ok((await rows.count()) < 60, `${await rows.count()} rows are drawn`);
    const isInSight = (text) => [...document.querySelectorAll('[data-status=active]')].some((row) => row.textContent.includes(text) && row.getBoundingClientRect().bottom < innerHeight + 1);
    for (let at = 1; at <= 12; at += 1) {
      await page.keyboard.press('j');
      await page.waitForFunction(isInSight, `request ${at}`, { timeout: 5_000 });
    }
    for (let at = 0; at < 12; at += 1) {
      await rows.last().hover();
      await page.mouse.wheel(0, 1e6);
      await page.waitForTimeout(100);
    }
    await page.getByText('request 999', { exact: true }).waitFor();
  });
});

test('whoever is not among the newest of a large directory is named and found, too', async () => {
  await as('ana', async (page) => {
    await page.route(/\/api\/actors\?/, async (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
      const all = await (await route.fetch({ url: `${company.address}/api/actors?limit=1000` })).json();
      await route.fulfill({ json: all.slice(from, from + 4), headers: from + 4 < all.length ? { 'x-next-cursor': String(from + 4) } : {} });
    });
    await page.goto('/kill');
    const who = page.getByRole('combobox', { name: 'Who' });
    await who.click();
    await who.fill('deployér');
    await page.getByRole('option', { name: /Deployer/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.value === 'Deployer (deployer)');
  });
});

test('why a button does nothing is told by a finger and by a key', async () => {
  await as('max', async (page) => {
    await page.goto('/people/scout');
    const button = page.getByRole('button', { name: 'Change', exact: true });
    await page.waitForFunction(() => [...document.querySelectorAll('button')].some((one) => one.textContent === 'Change' && one.ariaDisabled));
    // To the browser it is a button like any other.
    await button.tap({ force: true });
    await page.getByRole('dialog', { name: 'Why not' }).getByRole('link', { name: 'What would change this?' }).waitFor();
    assert.deepEqual(await findings(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await button.press('Enter');
    await page.getByRole('link', { name: 'What would change this?' }).click();
    await page.waitForURL(/\/explain.*op=actor.update/);
    await page.getByRole('heading', { name: 'may not' }).waitFor();
  }, { viewport: NARROW, hasTouch: true });
});

test('names are text, whatever stands in them', async () => {
  await as('ana', async (page) => {
    await page.goto('/people/zoe');
    await page.getByRole('heading', { name: '<b>Zoë</b> & "friends" 🦊' }).waitFor();
    assert.equal(await page.locator('h1 b').count(), 0);
  });
});

test('a server that stops is said to, and found again', { timeout: 40_000 }, async () => {
  await as('ana', async (page, { faults }) => {
    await page.goto('/people');
    await page.getByText('Max Okafor').first().waitFor();
    // A page that is still being loaded says so in its own way.
    await page.waitForLoadState('networkidle');
    await company.stop();
    await page.getByText('The server does not answer.').waitFor({ timeout: 10_000 });
    await page.getByRole('link', { name: 'Kill switches' }).first().click();
    await page.waitForTimeout(500);
    await page.getByText('Max Okafor').first().waitFor();
    await company.start();
    await page.getByText('The server does not answer.').waitFor({ state: 'hidden', timeout: 15_000 });
    await page.getByRole('heading', { name: 'Kill switches' }).waitFor();
    faults.length = 0;
  });
});

test('without JavaScript, a sentence says what to do', async () => {
  const context = await browser.newContext({ baseURL: company.address, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto('/');
  const { height } = await page.locator('noscript').boundingBox();
  assert.ok(height > 10);
  assert.match(await page.locator('noscript').textContent(), /The workspace needs JavaScript/);
  await context.close();
});
