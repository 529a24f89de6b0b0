// What the tests of a file share: a company and a browser, there before the first of them and gone after the last. Each file runs in a process of its own.
import { join } from 'node:path';
import { after, before } from 'node:test';
import { launch, visit } from './browser.mjs';

/** What `make test` leaves to `make prove`. */
export const isProof = !!process.env.OK_PROVE;
/** Of a test that waits for `make prove`. */
export const later = { skip: !isProof };
export const pictures = process.env.OK_PICTURES ?? join(import.meta.dirname, '../node_modules/.pictures');

export let company;
export let browser;

/** `make` makes the company, `furnish` what is in it; it knows the tokens of its people. */
export function share(make, furnish = () => {}) {
  before(async () => {
    company = await make();
    await furnish(company);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await company?.remove();
  });
}

/** Runs with the page of somebody who is signed in. */
export const as = (who, run, options) => visit(browser, company.address, company.tokens[who], run, options);

/** What somebody reads of the API. */
export const ask = (who, path) => company.ask(company.tokens[who], 'GET', path);
