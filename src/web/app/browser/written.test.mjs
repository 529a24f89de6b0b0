// What people write and hand over, and what they are shown of an agent’s call: in the demo, with the people who are in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings, settled } from './browser.mjs';
import { Company } from './company.mjs';
import { as, ask, company, share } from './stage.mjs';

share(Company.demo);

const settings = async () => ({ ...(await ask('ana', '/api/company')), version: undefined });

test('settings of the company are saved, and what is changed meanwhile is not overwritten', async () => {
  const before = await settings();
  await as('ana', async (page) => {
    let list;
    const isWanted = new Promise((come) => (list = come));
    await page.route(/assets\/controls-/, (route) => isWanted.then(() => route.continue()));
    await page.goto('/settings');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Fernhill & Söhne');
    // What is selected before the list of choices is there is replaced by what is typed once it is.
    const zone = page.getByRole('combobox', { name: 'Time zone' });
    await zone.selectText();
    const first = await zone.elementHandle();
    list();
    await first.waitForElementState('hidden');
    await page.keyboard.type('lisb');
    await page.getByRole('option', { name: 'Europe/Lisbon' }).click();
    await page.getByLabel('Work begins').fill('07:30');
    await page.getByLabel('Work ends').fill('16:15');
    await page.getByLabel('Agents may spend').fill('12345');
    await page.getByLabel('Finished tasks and runs').fill('90');
    await page.getByLabel('Approvals wait for').fill('48');
    await page.getByRole('combobox', { name: 'Decisions for other programs' }).click();
    await page.getByRole('option', { name: 'those that are not yes' }).click();
    assert.deepEqual(await findings(page), []);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed', { exact: true }).waitFor();
    assert.deepEqual(await settings(), {
      ...before,
      name: 'Fernhill & Söhne',
      timezone: 'Europe/Lisbon',
      hours: { from: '07:30', to: '16:15' },
      budget_cents_month: 12345,
      retention_days: 90,
      approvals: { default_ttl_h: 48 },
      decisions: { record: 'refusals' },
    });
    // What was saved has been read anew: nothing is to be saved.
    await page.locator('button[type=submit]:disabled', { hasText: 'Save' }).waitFor();
    // Without a limit: the field is empty, also after it was read anew.
    await page.getByLabel('Agents may spend').fill('');
    const isSaved = (answer) => answer.url().endsWith('/api/company') && answer.request().method() !== 'GET';
    await Promise.all([page.waitForResponse(isSaved), page.getByRole('button', { name: 'Save' }).click()]);
    await page.reload();
    assert.equal(await page.getByLabel('Agents may spend').inputValue(), '');
    assert.equal((await settings()).budget_cents_month, null);
    // What is being written stays where somebody else changes something; the same setting is not overwritten unawares.
    await page.getByLabel('Work ends').fill('18:00');
    await company.ask(company.tokens.ben, 'PATCH', '/api/company', { retention_days: 30 });
    await page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === '30 days'));
    assert.equal(await page.getByLabel('Work ends').inputValue(), '18:00');
    assert.equal(await page.getByText('Changed by somebody else meanwhile').count(), 0);
    await company.ask(company.tokens.ben, 'PATCH', '/api/company', { hours: { from: '08:00', to: '16:00' } });
    await page.getByText('Changed by somebody else meanwhile: Work begins and ends').waitFor();
    await Promise.all([page.waitForResponse(isSaved), page.getByRole('button', { name: 'Save' }).click()]);
    const { hours, retention_days } = await settings();
    assert.deepEqual([hours, retention_days], [{ from: '07:30', to: '18:00' }, 30]);
    await page.getByText('Changed by somebody else meanwhile').waitFor({ state: 'detached' });
  });
});

test('a setting that cannot be is refused at its field, and nothing is saved', async () => {
  const before = await settings();
  await as('ana', async (page) => {
    await page.goto('/settings');
    await page.getByLabel('Approvals wait for').fill('24');
    await page.getByLabel('Finished tasks and runs').fill('99999');
    await page.keyboard.press('Enter');
    // It is said where it is to be mended, and nowhere else.
    await page.getByRole('alert').filter({ hasText: 'must be at most 36500' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 1);
    assert.match((await page.getByLabel('Finished tasks and runs').getAttribute('aria-describedby')) ?? '', /error/);
    assert.deepEqual(await settings(), before);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('   ');
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
  });
  await as('kai', async (page) => {
    await page.goto('/settings');
    await page.getByText(/You may not change these/).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    assert.ok(!(await page.getByLabel('Work begins').isEditable()));
  });
});

const pick = (page, name, mimeType, buffer) => page.getByLabel('document', { exact: true }).setInputFiles({ name, mimeType, buffer: Buffer.from(buffer) });

test('a document is uploaded, accepted by somebody else, and found', async () => {
  await as('mia', async (page) => {
    await page.goto('/data');
    await page.getByRole('button', { name: 'Upload a document' }).waitFor();
    await pick(page, 'Descaling & rinsing.md', 'text/markdown', '# Descaling\n\nQuillbrook water is hard: descale the boiler every six weeks.\n');
    await page.getByText(/Uploaded and indexed: it is/).waitFor();
    const row = page.getByRole('row', { name: /Descaling & rinsing/ });
    await row.getByText('document, 1 passage').waitFor();
  });
  await as('ana', async (page) => {
    await page.goto('/data');
    const row = page.getByRole('row', { name: /Descaling & rinsing/ });
    await row.getByRole('button', { name: 'Read and decide' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('descale the boiler every six weeks').waitFor();
    await dialog.getByRole('button', { name: 'Accept' }).click();
    await page.getByText('Accepted: it is recalled from now on').waitFor();
    await row.getByText('accepted').waitFor();
    await page.getByRole('textbox', { name: 'search the data' }).fill('quillbrook');
    await page.getByRole('link', { name: /Descaling & rinsing/ }).waitFor();
  });
});

test('a file of another kind, or too large, is not uploaded and says why', async () => {
  const before = (await ask('ana', '/api/knowledge?limit=1000')).length;
  await as('mia', async (page) => {
    await page.goto('/data');
    await page.getByRole('button', { name: 'Upload a document' }).waitFor();
    await pick(page, 'invoice.pdf', 'application/pdf', '%PDF-1.7');
    await page.getByText('invoice.pdf is not one of .txt, .md, .html, .csv, .docx').waitFor();
    await pick(page, 'letter.docx', 'application/octet-stream', 'this is no archive');
    await page.getByText(/content_base64: /).first().waitFor();
    await pick(page, 'log.txt', 'text/plain', Buffer.alloc((10 << 20) + 1, 'word '));
    await page.getByText('log.txt is larger than 10 MiB').waitFor();
  });
  assert.equal((await ask('ana', '/api/knowledge?limit=1000')).length, before);
});

const PAID = `apiVersion: ok/v1
kind: View
metadata: {name: paid, title: Paid invoices}
spec:
  query: {collection: invoices, filter: {status: {in: [paid]}}, fields: [number, total, status], sort: [number]}
  layout: {kind: table, columns: [number, total, status]}
`;

test('a view is proposed, brought into force, opened, and leads to its records', { timeout: 60_000 }, async () => {
  const change = await company.ask(company.tokens.nora, 'POST', '/api/changes', { target: 'view', target_id: 'paid', content: { definition: PAID }, reason: 'what is paid' });
  await as('nora', async (nora) => {
    await nora.goto('/data');
    await nora.getByRole('link', { name: 'Unpaid invoices' }).waitFor();
    assert.equal(await nora.getByRole('link', { name: 'Paid invoices', exact: true }).count(), 0);
    await as('sam', async (sam) => {
      await sam.goto(`/policy/changes/${change.id}`);
      await sam.getByRole('button', { name: 'Run the tests' }).click();
      await sam.getByText('The tests ran').waitFor();
      await sam.getByRole('button', { name: 'Approve', exact: true }).click();
      await sam.getByText('approved', { exact: true }).first().waitFor();
      await sam.getByRole('button', { name: 'Bring into force' }).click();
      await sam.getByRole('dialog').getByRole('button', { name: 'Bring into force' }).click();
      await sam.getByRole('button', { name: 'Bring into force' }).first().waitFor({ state: 'hidden' });
    });
    await nora.getByRole('link', { name: 'Paid invoices', exact: true }).click({ timeout: 10_000 });
    await nora.getByRole('heading', { name: 'Paid invoices' }).waitFor();
    await nora.getByRole('link', { name: '2201' }).waitFor();
    assert.equal(await nora.getByRole('link', { name: '2214' }).count(), 0, 'an invoice that is not paid');
    assert.deepEqual(await nora.getByRole('columnheader').allTextContents(), ['Number', 'Total', 'Status']);
    await nora.getByRole('link', { name: '2201' }).click();
    await nora.waitForURL(/\/data\/invoices\/rec_/);
    // The same question, asked by hand of the collection.
    await nora.goto('/data/invoices');
    await nora.getByRole('combobox', { name: 'field' }).click();
    await nora.getByRole('option', { name: 'Status' }).click();
    await nora.getByRole('combobox', { name: 'value' }).click();
    await nora.getByRole('option', { name: 'paid' }).click();
    await nora.getByRole('link', { name: '2214' }).waitFor({ state: 'hidden' });
    const listed = await nora.getByRole('row').getByRole('link', { name: /^\d{4}$/ }).allTextContents();
    const { records } = await ask('nora', '/api/views/paid');
    assert.deepEqual(listed.sort(), records.map(({ fields }) => fields.number).sort());
  });
});

test('an agent’s call is approved as it was given, to the letter', { timeout: 60_000 }, async () => {
  const title = 'Refund "180" <b>euros</b> & change; order 4655';
  const goal = 'First line.\n  Second line, indented.';
  const plan = `steps:\n  - call: {tool: task.create, with: ${JSON.stringify({ title, goal, owner: 'omar', priority: 'high' })}}\n  - say: "Asked."\n`;
  const run = await company.ask(company.tokens.mia, 'POST', '/api/ask', { agent: 'triage', text: 'Refund it', plan });
  const asked = async () => (await ask('lea', '/api/approvals?status=pending')).find(({ args }) => args?.title === title);
  for (let tries = 0; !(await asked()) && tries < 50; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  const approval = await asked();
  assert.ok(approval, JSON.stringify(run));
  await as('lea', async (page) => {
    await page.goto(`/approvals/${approval.id}`);
    await page.getByText('What exactly').waitFor();
    await page.getByText('on behalf of').waitFor();
    const shown = await page.locator('dl').first().evaluate((list) => Object.fromEntries([...list.querySelectorAll('dt')].map((name) => [name.textContent, name.nextElementSibling?.innerText])));
    assert.deepEqual(shown, { operation: 'task.create', about: 'omar', title, goal, owner: 'omar', priority: 'high' });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/^Approved and carried out: /).waitFor();
  });
  const { id } = (await ask('omar', '/api/tasks?limit=1000')).find((task) => task.title === title);
  const made = await ask('omar', `/api/tasks/${id}`);
  assert.deepEqual([made.goal, made.owner, made.priority], [goal, 'omar', 'high']);
});

test('what a filter of the log leaves out of the newest page is found further back', async () => {
  await as('vera', async (page) => {
    // The newest page is full, and nothing in it was refused; what is read before it comes as it is.
    await page.route(/\/api\/events\?limit=100$/, async (route) => {
      const answer = await route.fetch();
      const { events, last_seq } = await answer.json();
      const allowed = events.find(({ decision }) => decision === 'allow');
      await route.fulfill({ response: answer, json: { events: Array.from({ length: 100 }, (_, at) => ({ ...allowed, seq: last_seq + 1 + at })), last_seq } });
    });
    await page.goto('/log?decision=deny');
    await page.getByText(/was refused/).first().waitFor();
  });
});

test('what the server does in crowds is one row of the log, which opens, and stays itself while earlier events are read', async () => {
  await as('ana', async (page) => {
    const { events } = await ask('ana', '/api/events?limit=100');
    const own = events.map((one, at) => ({ ...one, decision: at < 90 ? 'system' : 'allow' }));
    const earlier = Array.from({ length: 5 }, (_, at) => ({ ...own[0], seq: own[0].seq - 5 + at }));
    let readOn;
    const held = new Promise((go) => (readOn = go));
    await page.route(/\/api\/events\?limit=100$/, (route) => route.fulfill({ json: { events: own, last_seq: own.at(-1).seq } }));
    await page.route(/\/api\/events\?.*limit=1000/, async (route) => {
      await held;
      await route.fulfill({ json: { events: earlier, last_seq: own.at(-1).seq } });
    });
    await page.goto('/log');
    // Known by its newest event: there may be others above, of what the server has done meanwhile.
    const crowd = (count) => page.getByRole('button', { name: new RegExp(`^${own[89].seq} .* ${count} events of the server`) });
    await crowd(90).focus();
    readOn();
    await crowd(95).waitFor();
    await page.keyboard.press('Enter');
    await page.locator(`a[href^="/log/${own[89].seq}"]`).waitFor();
    await page.keyboard.press('Enter');
    await page.locator(`a[href^="/log/${own[89].seq}"]`).waitFor({ state: 'hidden' });
    // By keys it is one row, which the right one opens; inside they go from event to event.
    const isAt = (seq) => page.waitForURL(`**/log/${seq}`);
    await page.keyboard.press('k');
    await isAt(own[90].seq);
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowRight');
    await page.locator(`a[href^="/log/${own[89].seq}"]`).waitFor();
    await page.keyboard.press('j');
    await isAt(own[89].seq);
    await page.keyboard.press('j');
    await isAt(own[88].seq);
    // The left one goes back to the row, and closes it.
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.locator(`a[href^="/log/${own[89].seq}"]`).waitFor({ state: 'hidden' });
  });
});

test('what is no event can be closed, and a name that nobody has is told', async () => {
  await as('ana', async (page) => {
    await page.goto('/log/abc');
    await page.getByText('There is no such event').waitFor();
    await page.getByRole('link', { name: 'Close' }).click();
    await page.waitForURL('**/log');
    await page.getByRole('combobox', { name: 'Actor' }).click();
    await page.keyboard.type('nobody at all');
    await page.getByText('Nothing found').waitFor();
  });
});

test('an event that is opened by its number is marked in the list, with those around it', async () => {
  await as('ana', async (page) => {
    await page.goto('/log/300');
    const row = page.locator('[data-active]', { has: page.getByRole('link', { name: '300', exact: true }) });
    await row.waitFor();
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('[data-active]').getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    });
    await page.getByRole('heading', { name: 'Event 300' }).waitFor();
    await page.getByRole('link', { name: '301', exact: true }).waitFor();
    await page.getByRole('link', { name: '299', exact: true }).waitFor();
  });
});

test('a log with filters is read back until its view is full, and no further than ten pages', async () => {
  await as('vera', async (page) => {
    const [one] = (await ask('vera', '/api/events?limit=1')).events;
    const last = 50_000;
    const read = [];
    // One of a thousand was refused.
    await page.route(/\/api\/events\?/, (route) => {
      const query = new URL(route.request().url()).searchParams;
      const limit = Number(query.get('limit'));
      const since = query.has('since') ? Number(query.get('since')) : last - limit;
      if (limit === 1000) read.push(since);
      const events = Array.from({ length: Math.min(limit, last - since) }, (_, at) => ({ ...one, seq: since + 1 + at, decision: (since + 1 + at) % 1000 === 0 ? 'deny' : 'allow' }));
      return route.fulfill({ json: { events, last_seq: last } });
    });
    await page.goto('/log?decision=deny');
    await page.getByText(/^Looked through as far back as event 39,\d{3}\.$/).waitFor();
    await settled(page);
    assert.equal(read.length, 10);
    await page.getByRole('button', { name: 'Read earlier events' }).click();
    await page.getByText(/^Looked through as far back as event 29,\d{3}\.$/).waitFor();
    assert.equal(read.length, 20);
  });
});
