// Writes docs/pictures: the workspace in the demo, as the pages of the documentation show it.
import { join } from 'node:path';
import { launch, settled, signedIn } from './browser.mjs';
import { Company } from './company.mjs';

const folder = join(import.meta.dirname, '../../../../docs/pictures');
const company = await Company.demo();
const ask = (who, path) => company.ask(company.tokens[who], 'GET', path);
const browser = await launch();
try {
  const approvals = await ask('tom', '/api/approvals?status=pending');
  const runs = await ask('max', '/api/runs');
  const changes = await ask('sam', '/api/changes');
  const approval = approvals.find(({ action }) => action === 'actor.trust').id;
  const run = runs.find(({ waiting }) => waiting?.kind === 'question' && waiting.to.includes('max')).id;
  const change = changes.find(({ state }) => state === 'canary').id;
  for (const [who, name, path, ready] of [
    ['ana', 'home', '/', 'Log verified up to'],
    ['tom', 'approval', `/approvals/${approval}`, 'What happens then'],
    ['max', 'run', `/runs/${run}`, 'The grinder G2 is not sold any more'],
    ['ana', 'tasks', '/tasks', 'Who answers on Sunday?'],
    ['nora', 'data', '/data/invoices?sort=-due', 'reminded'],
    ['ana', 'change', `/policy/changes/${change}`, 'of decisions, live'],
    ['ana', 'explain', '/explain?actor=max&op=kill&target=actor:scribe', 'Nearly permitted by'],
    ['sam', 'policy', '/policy?file=shop/refunds.cedar', 'can come into force'],
  ]) {
    const { context, page } = await signedIn(browser, company.address, company.tokens[who]);
    await page.goto(path);
    await page.getByText(ready).first().waitFor();
    await settled(page);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await company.remove();
}
