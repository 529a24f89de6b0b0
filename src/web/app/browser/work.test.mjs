// Asking agents, following their runs, and tasks: in the demo, with the people who are in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings, open, settled } from './browser.mjs';
import { Company } from './company.mjs';
import { shoot } from './shots.mjs';
import { as, ask, browser, company, isProof, later, pictures, share } from './stage.mjs';

share(Company.demo);

test('the pages of work stand in every size and theme, and axe finds nothing', { timeout: 240_000 }, async () => {
  const runs = await ask('ana', '/api/runs');
  const [task] = (await ask('ana', '/api/tasks?status=assigned')).slice(-1);
  const [kiosk] = await ask('ana', '/api/search?q=kiosk&kinds=record&collections=customers');
  const at = (status, agent) => `/runs/${runs.find((run) => run.status === status && (!agent || run.agent === agent)).id}`;
  const all = {
    'work-home': '/',
    ask: '/ask',
    question: at('waiting_input'),
    approving: at('waiting_approval'),
    held: at('held'),
    refused: at('failed', 'ledger'),
    done: at('completed', 'triage'),
    board: '/tasks',
    tasks: '/tasks?view=list',
    task: `/tasks/${task.id}`,
    glass: '/break-glass',
    data: '/data?q=late',
    records: '/data/invoices?field=status&value=open&sort=-total',
    record: `/data/customers/${kiosk.id}`,
  };
  const sides = isProof ? undefined : ['narrow light', 'wide dark'];
  const only = isProof ? undefined : ['ask', 'question', 'approving', 'refused', 'board', 'tasks', 'data', 'records', 'record'];
  assert.deepEqual(await shoot(browser, company.address, company.tokens.ana, all, pictures, { sides, only }), []);
});

test('an agent is asked, asks back, is answered, and comes to an end, live', { timeout: 60_000 }, async () => {
  await as('mia', async (page) => {
    await page.goto('/');
    // Keys are listened to as soon as what the first look does not need is there.
    await page.getByRole('heading', { level: 1 }).waitFor();
    const ask = page.getByRole('heading', { name: 'Ask' });
    while (!(await ask.isVisible())) {
      await page.keyboard.press('g');
      await page.keyboard.press('q');
      await page.waitForTimeout(100);
    }
    await page.getByRole('radio', { name: /Ticket triage/ }).check();
    await page.getByLabel('What is it to do?').fill('Find out who can write French.');
    await page.getByRole('button', { name: 'Budget and plan' }).click();
    await page.getByLabel('Plan').fill('steps:\n  - call: {tool: actor.list}\n  - ask: {text: "Only people, or agents too?"}\n  - say: "Max can."\n');
    assert.deepEqual(await findings(page), []);
    await page.getByRole('button', { name: 'Ask Ticket triage' }).click();
    await page.getByRole('heading', { name: 'Find out who can write French.' }).waitFor();
    await page.getByText('Only people, or agents too?').waitFor();
    // What decided a step is told beside it.
    await page.getByText('everyone-reads-the-directory').or(page.getByRole('link', { name: /^event \d+$/ })).first().waitFor();
    const address = new URL(page.url()).pathname;
    await as('lea', async (lead) => {
      await lead.goto(address);
      await lead.getByText('waits for the answer of').waitFor();
      await page.getByRole('textbox', { name: 'Your answer' }).fill('Only people');
      await page.keyboard.press('Control+Enter');
      await page.getByText('What came of it', { exact: true }).waitFor();
      await page.getByText('Max can.').first().waitFor();
      await lead.getByText('Max can.').first().waitFor({ timeout: 8_000 });
      // With its question, the answer says what was answered.
      await page.getByText('«Only people, or agents too?»').waitFor();
    });
  });
});

test('whoever has answered a run that is not theirs is told that it went on without them', async () => {
  const plan = { steps: [{ ask: { text: 'Shall we pay?', to: 'nora' } }, { say: 'done' }] };
  const { run } = await company.ask(company.tokens.mia, 'POST', '/api/ask', { agent: 'scribe', text: 'Pay the bill', plan });
  await as('nora', async (page) => {
    await page.goto(`/runs/${run}`);
    await page.getByRole('textbox', { name: 'Your answer' }).fill('yes');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Gone, or for others to see').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Your answer' }).count(), 0);
  });
});

test('an answer that was still written when another came is not lost', async () => {
  const plan = { steps: [{ ask: { text: 'Shall we wait?' } }, { say: 'done' }] };
  const { run } = await company.ask(company.tokens.mia, 'POST', '/api/ask', { agent: 'scribe', text: 'Wait or not', plan });
  await as('mia', async (page) => {
    await page.goto(`/runs/${run}`);
    await page.getByRole('textbox', { name: 'Your answer' }).fill('Half a thought');
    await company.ask(company.tokens.mia, 'POST', `/api/runs/${run}/answer`, { text: 'yes' });
    await page.getByText('Your answer was not sent: «Half a thought»').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('was not sent').waitFor({ state: 'detached' });
  });
});

test('a part of the workspace that cannot be loaded is told', async () => {
  await as('mia', async (page) => {
    await page.route(/assets\/controls-/, (route) => route.abort());
    await page.goto('/tasks');
    await page.getByText('A part of the workspace could not be loaded').waitFor();
    await page.unroute(/assets\/controls-/);
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByRole('dialog', { name: 'New task' }).waitFor();
  });
});

test('what somebody has to answer waits on their first page, and in the palette', async () => {
  await as('max', async (page) => {
    await page.goto('/');
    await page.getByRole('link', { name: /asks you something/ }).waitFor();
    await page.getByRole('link', { name: /Ask 1/ }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'search' }).fill('Answer scribe');
    await page.keyboard.press('Enter');
    await page.getByText('The grinder G2 is not sold any more.').waitFor();
  });
});

test('a call of a run is approved where the run is followed, and the run goes on', async () => {
  const run = (await ask('ana', '/api/runs?status=waiting_approval')).find((one) => one.agent === 'triage');
  await as('lea', async (page) => {
    await page.goto(`/runs/${run.id}`);
    await page.getByText('It waits for approval').waitFor();
    await page.getByLabel('Note').fill('go on');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Finance has the refund.').first().waitFor();
    await page.getByText('completed').first().waitFor();
  });
});

test('a run that its budget holds goes on when somebody raises it', later, async () => {
  const run = (await ask('ana', '/api/runs?status=held'))[0];
  await as('nora', async (page) => {
    await page.goto(`/runs/${run.id}`);
    await page.getByText('You may not raise it').waitFor();
  });
  await as('omar', async (page) => {
    await page.goto(`/runs/${run.id}`);
    await page.getByText('Its budget holds it').waitFor();
    await page.getByRole('button', { name: 'Raise the budget' }).click();
    await page.getByText('What came of it', { exact: true }).waitFor();
  });
});

test('a run is cancelled, with a reason', later, async () => {
  const run = (await ask('ana', '/api/runs?agent=oncall')).find(({ status }) => status === 'running');
  await as('ivy', async (page) => {
    await page.goto(`/runs/${run.id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('not tonight');
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('cancelled', { exact: true }).first().waitFor();
  });
});

test('a task is created, assigned, referred to and closed', async () => {
  await as('lea', async (page) => {
    await page.goto('/tasks');
    await page.getByRole('button', { name: 'New task' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Taste the new roast');
    await dialog.getByLabel('Goal').fill('Ten cups, blind.');
    await settled(page);
    assert.deepEqual(await findings(page), []);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Taste the new roast' }).waitFor();
    await page.getByRole('button', { name: 'Assign' }).click();
    await dialog.getByRole('combobox', { name: 'To' }).click();
    await page.getByRole('option', { name: 'Mia Sato' }).click();
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await page.getByText('assigned', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Add' }).click();
    await dialog.getByLabel('Address').fill('https://roast.example/42');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('link', { name: 'https://roast.example/42' }).waitFor();
  });
  await as('mia', async (page) => {
    await page.goto('/tasks?whose=mine');
    const lane = page.getByRole('region', { name: 'Assigned' });
    await lane.getByRole('link', { name: /Taste the new roast/ }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What came of it').fill('The light one.');
    await dialog.getByRole('button', { name: 'Close the task' }).click();
    await page.getByText('The light one.').waitFor();
    await page.goto('/tasks?view=list&q=roast');
    await page.getByRole('link', { name: /Taste the new roast.*completed/ }).waitFor();
  });
});

test('an agent is set to work on its task, by a plan', later, async () => {
  const task = await company.ask(company.tokens.lea, 'POST', '/api/tasks', { title: 'Count the tickets', owner: 'triage' });
  await as('lea', async (page) => {
    await page.goto(`/tasks/${task.id}`);
    await page.getByRole('button', { name: 'Run' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Plan').fill('steps:\n  - say: "Seven."\n');
    await dialog.getByRole('button', { name: 'Run' }).click();
    await page.getByText('What came of it', { exact: true }).waitFor();
    await page.goto(`/tasks/${task.id}`);
    await page.getByRole('link', { name: /Ticket triage.*completed/ }).waitFor();
  });
});

test('who may do something with approval is told whom it asks, and where to ask', later, async () => {
  await as('lea', async (page) => {
    await page.goto('/people/mia');
    await page.getByRole('button', { name: 'Offboard asks admin' }).waitFor();
    await page.goto('/explain?actor=lea&op=actor.offboard&target=mia');
    await page.getByRole('link', { name: 'Ask for it' }).click();
    await page.getByRole('heading', { name: 'Mia Sato' }).waitFor();
  });
});

test('the glass is broken, seen, and reviewed by somebody else', later, async () => {
  await as('omar', async (page) => {
    await page.goto('/break-glass');
    await page.getByLabel('For which operations').fill('actor.add');
    await page.getByLabel('Why it cannot wait').fill('the new clerk stands at the till');
    await page.getByRole('button', { name: 'Break the glass' }).click();
    await page.getByText('open now').waitFor();
    await page.getByText('The glass is broken: until').waitFor();
    assert.deepEqual(await findings(page), []);
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByText('to be reviewed').waitFor();
  });
  await as('ben', async (page) => {
    await page.goto('/break-glass');
    await page.getByRole('button', { name: 'Review' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Note').fill('seen');
    await dialog.getByRole('button', { name: 'Review' }).click();
    await page.getByText('«seen»').waitFor();
  });
});

test('records are searched, filtered and followed, and what is withheld says so', { timeout: 60_000 }, async () => {
  await as('mia', async (page) => {
    await page.goto('/data');
    await page.getByRole('textbox', { name: 'search the data' }).fill('kiosk');
    // What is known of it is found, too, and leads to where it stands.
    await page.getByRole('link', { name: /Kiosk am Park pays late/ }).click();
    await page.waitForURL(/\/data.*#kno_/);
    await page.getByRole('textbox', { name: 'search the data' }).fill('kiosk');
    await page.getByRole('link', { name: 'Kiosk am Park', exact: true }).click();
    await page.getByRole('heading', { name: 'Kiosk am Park' }).waitFor();
    await page.getByText('withheld').first().waitFor();
    assert.equal(await page.getByText('kiosk@park.example').count(), 0);
    await page.getByRole('link', { name: 'Ask the kiosk for its new address' }).waitFor();
    await page.getByRole('link', { name: '2214' }).click();
    await page.getByText('Reminded by telephone; pays on Friday.').first().waitFor();
    await page.goto('/data/invoices?field=status&value=paid');
    await page.getByRole('link', { name: '2201' }).waitFor();
    assert.equal(await page.getByRole('link', { name: '2214' }).count(), 0);
    await page.getByRole('button', { name: 'Total' }).click();
    await page.waitForURL(/sort=total/);
    // The palette finds what the server finds.
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'search' }).fill('telephone');
    await page.getByRole('button', { name: /2214/ }).click();
    await page.getByRole('heading', { name: '2214' }).waitFor();
  });
  // A lead reads what is confidential; a change shows by itself.
  await as('omar', async (page) => {
    await page.goto('/data/invoices?field=number&value=2219');
    await page.getByRole('link', { name: '2219' }).click();
    await page.getByText('117.50 EUR').first().waitFor();
    const id = new URL(page.url()).pathname.split('/').pop();
    await company.ask(company.tokens.nora, 'PATCH', `/api/brain/collections/invoices/records/${id}`, { fields: { status: 'paid' } });
    await page.getByText('paid').first().waitFor({ timeout: 8_000 });
  });
});

test('looking at the pages of work asks for nothing that is refused', later, async () => {
  const refusals = async () => (await ask('ana', '/api/events?type=denied&actor=kai&limit=1000')).events.length;
  const before = await refusals();
  await as('kai', async (page) => {
    for (const path of ['/', '/ask', '/tasks', '/tasks?view=list', '/data', '/data/customers', '/break-glass']) {
      await open(page, path, ['/', '/ask', '/tasks'].includes(path));
    }
  });
  assert.equal(await refusals(), before);
});

test('a thousand runs and tasks are drawn as far as they are seen', later, async () => {
  await as('ana', async (page) => {
    const [run] = await ask('ana', '/api/runs?limit=1');
    const [task] = await ask('ana', '/api/tasks?limit=1');
    const many = (one) => Array.from({ length: 1000 }, (_, at) => ({ ...one, id: `${one.id.slice(0, -4)}${String(at).padStart(4, '0')}` }));
    await page.route(/\/api\/runs\?/, (route) => route.fulfill({ json: many(run) }));
    await page.route(/\/api\/tasks\?/, (route) => route.fulfill({ json: many(task) }));
    for (const path of ['/ask', '/tasks?view=list']) {
      await page.goto(path);
      await page.getByText(/ewest 1,000/).waitFor();
      const count = await page.getByRole('main').getByRole('link').count();
      assert.ok(count > 5 && count < 60, `${path}: ${count} rows are drawn`);
    }
  });
});

test('all approvals are narrowed by an address, and what is to be done is found by its words', async () => {
  await as('ana', async (page) => {
    await page.goto('/approvals?show=all&status=pending');
    const rows = page.getByRole('region', { name: 'Approvals', exact: true }).getByRole('link');
    await rows.filter({ hasText: 'ivy offboards kai' }).waitFor();
    await page.getByRole('combobox', { name: 'operation' }).fill('actor.h');
    await page.getByRole('option', { name: 'actor.hire' }).click();
    await rows.filter({ hasText: 'omar hires collector' }).waitFor();
    assert.equal(await rows.count(), 1);
    await page.waitForURL(/status=pending&operation=actor.hire/);
    await page.reload();
    await rows.filter({ hasText: 'omar hires collector' }).waitFor();
    const find = async (words) => {
      await page.keyboard.press('Control+k');
      await page.locator('[data-palette]').waitFor();
      await page.keyboard.type(words);
      await page.keyboard.press('Enter');
    };
    await find('kill triage');
    await page.waitForFunction(() => document.querySelector('input[role=combobox]')?.value === 'Ticket triage (triage)');
    await find('new task');
    await page.getByRole('dialog', { name: 'New task' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/tasks$/);
  });
});

test('what is written and not sent is there again after a reload', async () => {
  await as('ana', async (page) => {
    const goal = async () => {
      await page.getByRole('button', { name: 'New task' }).click();
      return page.getByRole('dialog', { name: 'New task' }).getByLabel('Goal');
    };
    await page.goto('/tasks');
    await (await goal()).fill('Half a sentence');
    await page.reload();
    const again = await goal();
    assert.equal(await again.inputValue(), 'Half a sentence');
    await again.fill('');
    await page.reload();
    assert.equal(await (await goal()).inputValue(), '');
  });
});
