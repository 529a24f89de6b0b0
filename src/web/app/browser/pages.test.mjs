// Every page, and how one gets to it and about in it. `OK_PROVE=1` looks at every page in every size and theme.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { findings, NARROW, open, settled, WIDE } from './browser.mjs';
import { Company, populate } from './company.mjs';
import { pages, shoot } from './shots.mjs';
import { as, browser, company, isProof, later, pictures, share } from './stage.mjs';

share(Company.create, populate);

test('every page stands in every size and theme, and axe finds nothing', { timeout: 240_000 }, async () => {
  const all = await pages(company);
  const sides = isProof ? undefined : ['wide light', 'narrow dark', 'wide dark', 'narrow light'];
  assert.deepEqual(await shoot(browser, company.address, company.tokens.ana, all, pictures, { sides }), []);
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
    for (const [path, ask] of dialogs) {
      await open(page, path);
      await ask();
      await page.getByRole('dialog').waitFor();
      await settled(page);
      assert.deepEqual(await findings(page), [], path);
    }
    await page.getByRole('textbox', { name: 'search' }).fill('kill');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Kill switches' }).waitFor();
  });
  await as(
    'ana',
    async (page) => {
      await page.goto('/');
      await page.getByRole('button', { name: 'Menu' }).click();
      const menu = page.getByRole('dialog');
      await menu.waitFor();
      await settled(page);
      assert.deepEqual(await findings(page), []);
      await menu.getByRole('link', { name: 'Log' }).click();
      await page.getByRole('heading', { name: 'Log' }).waitFor();
    },
    { viewport: NARROW, colorScheme: 'dark' },
  );
});

test('the search of the policy editor is legible in every size and theme', later, async () => {
  for (const [viewport, colorScheme] of [[WIDE, 'light'], [NARROW, 'dark'], [WIDE, 'dark'], [NARROW, 'light']]) {
    await as(
      'ana',
      async (page) => {
        await page.goto('/policy?file=production.cedar');
        await page.locator('.cm-content').click();
        await page.keyboard.press('Control+f');
        await page.getByRole('textbox', { name: 'Find' }).pressSequentially('principal');
        await page.locator('.cm-searchMatch').first().waitFor();
        await page.getByRole('button', { name: 'Next' }).click();
        await page.locator('.cm-searchMatch-selected').waitFor();
        const small = await page.evaluate(() => [...document.querySelectorAll('.cm-search > *')].filter((one) => one.tagName !== 'BR' && (one.getBoundingClientRect().height < 30 || parseFloat(getComputedStyle(one).fontSize) < 13)).map((one) => one.outerHTML));
        assert.deepEqual(small, []);
        const { width } = page.viewportSize();
        assert.ok(await page.evaluate((most) => [...document.querySelectorAll('.cm-search > *')].every((one) => one.getBoundingClientRect().right <= most), width));
        assert.deepEqual(await findings(page), []);
        await page.screenshot({ path: join(pictures, `search-${width}-${colorScheme}.png`) });
      },
      { viewport, colorScheme },
    );
  }
});

test('a token is pasted, kept for the tab and forgotten on signing out', async () => {
  const context = await browser.newContext({ baseURL: company.address });
  const page = await context.newPage();
  await page.goto('/people?kind=agent');
  await page.getByLabel('Token', { exact: true }).fill('hunter2');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('a token is ok_ followed by').waitFor();
  await page.getByLabel('Token', { exact: true }).fill(company.tokens.max);
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
  const context = await browser.newContext({ baseURL: company.address });
  const page = await context.newPage();
  await page.goto(`/#token=${company.tokens.max}`);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  assert.equal(page.url(), `${company.address}/`);
  // One that was cut off says so, to whoever is not signed in.
  const other = await browser.newContext({ baseURL: company.address });
  const door = await other.newPage();
  await door.goto(`/policy#token=${company.tokens.max.slice(0, -1)}`);
  await door.getByText('The link that you followed has no valid token').waitFor();
  assert.equal(door.url(), `${company.address}/policy`);
  await other.close();
  await context.close();
});

test('keys are taken as they are typed, however quick and however slow the machine', { timeout: 60_000, ...later }, async () => {
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
  }, { fresh: true });
});

test('what could not be loaded while the server was gone comes when it is back', { timeout: 60_000, ...later }, async () => {
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
  }, { fresh: true });
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

test('what is typed right after the palette was asked for is kept whole on any page', later, async () => {
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

test('who closes the palette and asks for it again at once types into it', async () => {
  await as('ana', async (page) => {
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.goto('/settings');
    await settled(page);
    await page.keyboard.press('Control+k');
    await page.locator('[data-palette]:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForTimeout(40);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('people', { delay: 60 });
    await page.waitForTimeout(200);
    assert.equal(await page.locator('[data-palette]').inputValue({ timeout: 1_000 }), 'people');
  });
});

test('Enter right after the last letter opens what is found for the words as typed', async () => {
  await as('ana', async (page) => {
    await company.ask(company.tokens.ana, 'POST', '/api/tasks', { title: 'Water the ficus' });
    await company.ask(company.tokens.ana, 'POST', '/api/tasks', { title: 'Feed the ficedula' });
    const typed = async (words) => {
      await page.locator('[data-palette]').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.locator('[data-palette]').waitFor();
      await page.keyboard.type(words);
      await page.keyboard.press('Enter');
    };
    await page.goto('/people');
    await settled(page);
    await typed('ficus');
    await page.getByRole('heading', { name: 'Water the ficus' }).waitFor();
    await typed('ficedula');
    await page.getByRole('heading', { name: 'Feed the ficedula' }).waitFor();
    await typed('kill');
    await page.getByRole('heading', { name: 'Kill switches' }).waitFor();
    // Whoever is called so comes before what has it in its name; a number is that of an event.
    await typed('max');
    await page.waitForURL('**/people/max');
    await typed('30');
    await page.waitForURL('**/log/30');
    // Before the palette is loaded, too.
    await page.goto('/people');
    await page.locator('h1').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ficus');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Water the ficus' }).waitFor();
  });
});

/** Pages that ask for something before the program is there, if they are loaded. */
const AHEAD = ['home', 'approvals', 'log', 'policy', 'people'];

test('looking at every page asks for nothing that is refused', { timeout: 60_000 }, async () => {
  const refusals = async () => (await company.ask(company.tokens.ana, 'GET', '/api/events?type=denied&actor=max&limit=1000')).events.length;
  const before = await refusals();
  await as('max', async (page) => {
    const list = await pages(company);
    // Asking about others is a question that somebody chose to ask.
    for (const name of ['home', 'approvals', 'log', 'event', 'policy', 'changes', 'history', 'people', 'person', 'agent', 'delegations', 'profile', 'kill', 'settings']) {
      await open(page, list[name], AHEAD.includes(name));
    }
  });
  assert.equal(await refusals(), before);
});

test('a long list is read and drawn as far as it is scrolled', async () => {
  await as('pia', async (page) => {
    const [one] = await company.ask(company.tokens.ana, 'GET', '/api/approvals?limit=1');
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
    await settled(page);
    await company.stop();
    await page.getByText('The server does not answer.').waitFor({ timeout: 10_000 });
    await page.getByRole('link', { name: 'Kill switches' }).first().click();
    await page.getByRole('status', { name: 'the page is loading' }).waitFor();
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
