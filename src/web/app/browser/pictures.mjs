// Writes docs/pictures: the workspace as the pages of the documentation show it.
import { join } from 'node:path';
import { launch, settled, signedIn } from './browser.mjs';
import { Company, PEOPLE, populate } from './company.mjs';

const folder = join(import.meta.dirname, '../../../../docs/pictures');
const company = await Company.create({ devAuth: false });
const { tokens } = await populate(company, PEOPLE.filter(([id]) => id !== 'zoe'));
const browser = await launch();
try {
  for (const [who, name, path, ready] of [
    ['ana', 'home', '/', 'Log verified up to'],
    ['pia', 'approval', '/approvals', 'lea offboards noor'],
    ['ana', 'explain', '/explain?actor=max&op=kill&target=actor:scout', 'Nearly permitted by'],
    ['ana', 'policy', '/policy?file=production.cedar', 'can come into force'],
  ]) {
    const { context, page } = await signedIn(browser, company.address, tokens[who]);
    await page.goto(path);
    await page.getByText(ready).first().waitFor();
    if (name === 'approval') {
      await page.getByRole('link', { name: /lea offboards noor/ }).click();
      await page.getByText('What happens then').waitFor();
    }
    await settled(page);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await company.remove();
}
