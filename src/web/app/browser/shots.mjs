// Every page at both widths and in both themes: no error, no violation, nothing for axe, a picture of each.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findings, NARROW, open, signedIn, WIDE } from './browser.mjs';

export async function pages(company) {
  const { tokens, change } = company;
  const ask = (path) => company.ask(tokens.ana, 'GET', path);
  const [approval] = await ask('/api/approvals');
  const { data: [webhook] } = await ask('/v1/webhooks');
  return {
    home: '/',
    approvals: '/approvals',
    approval: `/approvals/${approval.id}`,
    log: '/log',
    event: '/log/20',
    explain: '/explain?actor=max&op=kill&target=actor:scout',
    whocan: '/explain?mode=who&op=actor.offboard&target=max',
    policy: '/policy?file=production.cedar',
    changes: '/policy/changes',
    change: `/policy/changes/${change}`,
    history: '/policy/history',
    people: '/people',
    person: '/people/zoe',
    agent: '/people/scout',
    delegations: '/delegations',
    profile: '/me',
    kill: '/kill',
    settings: '/settings',
    ...(webhook ? { webhook: `/settings/webhooks/${webhook.id}` } : {}),
    missing: '/nowhere',
  };
}

export async function shoot(browser, address, token, list, folder, { only, sides } = {}) {
  mkdirSync(folder, { recursive: true });
  const problems = [];
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, viewport] of [['wide', WIDE], ['narrow', NARROW]]) {
      // With `sides`, each page is looked at from one of them, in turn.
      if (sides && !sides.includes(`${width} ${colorScheme}`)) continue;
      const { context, page, faults } = await signedIn(browser, address, token, { viewport, colorScheme });
      for (const [index, [name, path]] of Object.entries(list).entries()) {
        if (only && !only.includes(name)) continue;
        if (sides && index % sides.length !== sides.indexOf(`${width} ${colorScheme}`)) continue;
        await open(page, path);
        const found = await findings(page);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (overflow > 0) found.push(`the page is ${overflow} pixels too wide`);
        problems.push(...[...found, ...faults.splice(0)].map((fault) => `${name} ${width} ${colorScheme}: ${fault}`));
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
      await context.close();
    }
  }
  return problems;
}
