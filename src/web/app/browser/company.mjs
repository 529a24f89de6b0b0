// A company for the browser tests: the real binary in a folder of its own, and people who have already been at work.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../../..');
export const binary = process.env.OK_BIN ?? join(root, 'target/debug/ok');

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class Company {
  /** Makes an empty company with one admin, `ana`. */
  static async create({ blueprint = 'engineering', port, devAuth = true } = {}) {
    if (!existsSync(binary)) throw new Error(`${binary} is not there: run \`cargo build --bin ok\``);
    const company = new Company();
    company.devAuth = devAuth;
    company.folder = mkdtempSync(join(tmpdir(), 'ok-browser-'));
    company.port = port ?? (await freePort());
    company.address = `http://127.0.0.1:${company.port}`;
    company.ok(['init', '--admin', 'ana', ...(blueprint ? ['--blueprint', blueprint] : [])]);
    await company.start();
    return company;
  }

  /** The demo, as `ok demo` makes it and `ok demo serve` shows it; with the tokens that it prints. */
  static async demo() {
    const company = new Company();
    company.folder = mkdtempSync(join(tmpdir(), 'ok-browser-'));
    company.port = await freePort();
    company.address = `http://127.0.0.1:${company.port}`;
    const env = { PATH: process.env.PATH, HOME: company.folder };
    execFileSync(binary, ['demo', '--dir', 'demo'], { env, cwd: company.folder, stdio: 'ignore' });
    company.server = spawn(binary, ['--format', 'json', 'demo', 'serve', '--bind', `127.0.0.1:${company.port}`], { env, cwd: company.folder, stdio: ['ignore', 'pipe', 'ignore'] });
    const printed = await new Promise((resolve, reject) => {
      let text = '';
      company.server.stdout.on('data', (part) => {
        text += part;
        if (text.includes('\n')) resolve(JSON.parse(text));
      });
      company.server.once('exit', () => reject(new Error('the demo did not start')));
    });
    company.tokens = Object.fromEntries(printed.people.map(({ id, token }) => [id, token]));
    await company.isUp();
    return company;
  }

  ok(args) {
    const env = { PATH: process.env.PATH, HOME: this.folder, OK_STATE: join(this.folder, 'state.db') };
    return execFileSync(binary, args, { env, cwd: this.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** A token of their own: who issues another's token decides nothing that is asked with it. */
  token(id) {
    return JSON.parse(this.ok(['--as', id, '--format', 'json', 'token', 'issue', '--label', 'browser'])).token;
  }

  async start() {
    const env = { PATH: process.env.PATH, HOME: this.folder, OK_STATE: join(this.folder, 'state.db'), ...(this.devAuth ? { OK_DEV_AUTH: '1' } : {}) };
    this.server = spawn(binary, ['serve', '--bind', `127.0.0.1:${this.port}`], { env, cwd: this.folder, stdio: 'ignore' });
    await this.isUp();
  }

  async isUp() {
    for (let tries = 0; tries < 200; tries += 1) {
      const up = await fetch(`${this.address}/api/health`).then((answer) => answer.ok, () => false);
      if (up) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the server did not start');
  }

  async stop() {
    if (!this.server || this.server.exitCode !== null) return;
    const ended = new Promise((resolve) => this.server.once('exit', resolve));
    this.server.kill('SIGTERM');
    await ended;
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Asks as somebody; a refusal is thrown unless its status is expected. */
  async ask(token, method, path, body, expected = [200, 201, 202]) {
    const answer = await fetch(this.address + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!expected.includes(answer.status)) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  }
}

export const PEOPLE = [
  ['bo', 'Bo Andersson', 'admin', null],
  ['lea', 'Lea Brunner', 'lead', 'team:engineering'],
  ['max', 'Max Okafor', 'member', 'team:engineering'],
  ['pia', 'Pia Lindqvist', 'lead', 'team:platform'],
  ['tom', 'Tom Reyes', 'member', 'team:platform'],
  ['sam', 'Sam Whitfield', 'member', 'team:security'],
  ['ines', 'Inês Carvalho', 'lead', 'team:security'],
  ['vera', 'Vera Novak', 'auditor', null],
  ['noor', 'نور الدين', 'member', 'team:engineering'],
  ['zoe', '<b>Zoë</b> & "friends" 🦊', 'member', 'team:platform'],
];

const EXTRA = `// Agents that are only assisted do not read the directory.

@id("assisted-agents-read-no-directory")
@reason("assisted agents do not read the directory")
forbid (
  principal is Ok::Actor,
  action == Ok::Action::"actor.list",
  resource
)
when { principal has trust && principal.trust == 1 };
`;

/** People, teams, agents, approvals, a delegation, proposals, a webhook, a kill switch that was released. The company knows their `tokens`, and the `change` that waits. */
export async function populate(company, people = PEOPLE) {
  const tokens = { ana: company.token('ana') };
  const ana = (method, path, body, expected) => company.ask(tokens.ana, method, path, body, expected);
  for (const [id, name, role, team] of people) {
    await ana('POST', '/api/actors', { id, kind: 'person', name, role, ...(team ? { team } : {}) });
    tokens[id] = company.token(id);
  }
  const as = (who) => (method, path, body, expected) => company.ask(tokens[who], method, path, body, expected);
  for (const [team, lead] of [['team:engineering', 'lea'], ['team:platform', 'pia'], ['team:security', 'ines']]) {
    await ana('PATCH', `/api/actors/${team}`, { lead });
  }
  for (const [id, name, owner, skills] of [
    ['scout', 'Scout', 'max', ['research', 'summaries']],
    ['deployer', 'Deployer', 'pia', ['deploys', 'rollbacks']],
    ['clerk', 'Invoice clerk', 'lea', ['invoices']],
  ]) {
    await ana('POST', '/api/actors', { id, kind: 'agent', name, owner, skills });
  }
  await as('bo')('POST', '/api/actors/scout/trust', { tier: 'standard', reason: 'a month without a complaint' });
  await as('bo')('POST', '/api/actors/deployer/trust', { tier: 'assist', reason: 'new here' });
  await ana('POST', '/api/kill', { scope: 'actor:scout', reason: 'it mailed a customer twice' });
  await ana('POST', '/api/kill', { scope: 'actor:scout', off: true, reason: 'the loop is mended' });
  await as('max')('POST', '/api/tick', {}, [403]);
  await as('noor')('POST', '/api/kill', { scope: 'global', reason: 'a test' }, [403]);
  await as('max')('POST', '/api/delegations', { to: 'scout', scope: ['actor.read', 'actor.list'], authority: 'inform', ttl: '7d', budget_cents: 2500 });
  await as('lea')('POST', '/api/delegations', { to: 'max', scope: ['*'], authority: 'propose', ttl: '14d' });
  await ana('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/hooks', events: ['agent.gate.pending'], description: 'paging' }, [200, 201, 202, 422]);
  await as('lea')('POST', '/api/actors/noor/offboard', { reason: 'moves to another company', successor: 'max' });
  await as('lea')('POST', '/api/actors/max/offboard', { reason: 'asked by mistake' });
  const { files, version } = await ana('GET', '/api/policy/export');
  const proposed = await ana('POST', '/api/policy/proposals', {
    files: { ...files, 'assisted.cedar': EXTRA },
    reason: 'agents that are new here need not know everybody',
    base_version: version,
  });
  Object.assign(company, { tokens, change: proposed.id });
}
