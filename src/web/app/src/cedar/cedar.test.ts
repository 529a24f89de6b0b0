import { describe, expect, it } from 'vitest';
import { complete, sentenceAt } from './language';
import { fromBytes } from './offsets';
import { readSchema } from './schema';
import { tokens } from './tokens';

describe('offsets', () => {
  it('counts in bytes what the editor counts in UTF-16', () => {
    const text = 'aé€🦊\nz';
    const offset = fromBytes(text);
    expect([0, 1, 3, 6, 10, 11, 12].map(offset)).toEqual([0, 1, 2, 3, 5, 6, 7]);
  });
  it('takes what is inside a character to its beginning, and what is behind the end to the end', () => {
    const offset = fromBytes('é🦊');
    expect([1, 3, 5, 99, -4].map(offset)).toEqual([0, 1, 1, 3, 0]);
  });
  it('agrees with an encoder at each character', () => {
    const text = 'قل 日本 <b>𝒳</b> "ok" 👩‍🚀';
    const offset = fromBytes(text);
    let at = 0;
    for (const letter of text) {
      expect(offset(new TextEncoder().encode(text.slice(0, at)).length)).toBe(at);
      at += letter.length;
    }
  });
});

describe('tokens', () => {
  it('leaves no letter out', () => {
    for (const line of ['permit (principal in Ok::Role::"admin", action, resource);', '// a "note"', '@id("x") forbid', '"unfinished \\"', '  a.b >= 12 && !c €']) {
      expect(tokens(line).map(({ text }) => text).join('')).toBe(line);
    }
  });
  it('knows words, types, strings and notes', () => {
    expect(tokens('when { principal is Ok::Actor } // so').filter(({ kind }) => kind)).toEqual([
      { kind: 'keyword', text: 'when' },
      { kind: 'keyword', text: 'principal' },
      { kind: 'keyword', text: 'is' },
      { kind: 'typeName', text: 'Ok::Actor' },
      { kind: 'comment', text: '// so' },
    ]);
  });
});

const schema = readSchema(`namespace Ok {
  // A person or an agent.
  entity Actor in [Role, Team] = {
    kind: String,      // person, agent
    team?: Team,
  };
  entity Company;
}`);

describe('the schema', () => {
  it('says what types and attributes are', () => {
    expect(schema.types.get('Ok::Actor')).toBe('A person or an agent.');
    expect(schema.types.has('Ok::Company')).toBe(true);
    expect(schema.attributes).toEqual([
      { name: 'kind', type: 'String', of: 'Ok::Actor', doc: 'person, agent' },
      { name: 'team', type: 'Team', of: 'Ok::Actor', doc: '' },
    ]);
  });
  it('completes actions, types and attributes where they may stand', () => {
    const labels = (before: string) => complete(schema, before)?.options.map(({ label }) => label) ?? [];
    expect(labels('action == Ok::Action::"token.i')).toContain('token.issue');
    expect(labels('principal is Ok::')).toEqual(['Action', 'Actor', 'Company']);
    expect(labels('principal.k')).toContain('kind');
    expect(labels('principal is ')).toContain('Ok::Actor');
    expect(labels('perm')).toContain('permit');
    expect(complete(schema, '  ')).toBeNull();
  });
  it('completes the attributes of what the scope of the policy leaves', () => {
    const known = readSchema(`namespace Ok {
  entity Actor { kind: String, owner?: Actor };
  entity Team {
    lead?: Actor, // a note: with a colon
    tags: Set<String>, since: datetime,
  };
  type Facts = { channel: String, token: { scoped: Bool } };
  action "change.*";
  action "actor.add" in ["change.*"] appliesTo {
    principal: [Actor],
    resource: [Actor, Team],
    context: { channel: String, input: { id: String, name?: String } },
  };
}`);
    const labels = (policy: string) => complete(known, policy.split('\n').at(-1) ?? '', policy)?.options.filter(({ type }) => type === 'property').map(({ label }) => label);
    expect(labels('permit (principal is Ok::Actor, action, resource)\nwhen { principal.')).toEqual(['kind', 'owner']);
    expect(labels('permit (principal is Ok::Actor, action, resource)\nwhen { principal.owner.k')).toEqual(['kind', 'owner']);
    const adds = 'permit (principal, action == Ok::Action::"actor.add", resource)\nwhen { ';
    expect(labels(`${adds}resource.`)).toEqual(['kind', 'owner', 'lead', 'tags', 'since']);
    expect(labels(`${adds}context.input.`)).toEqual(['id', 'name']);
    expect(labels('permit (principal, action, resource)\nwhen { context.token.')).toEqual(['scoped']);
    expect(sentenceAt(known, 'context.channel', 9)).toBe('Ok::Facts.channel: String');
    const methods = (policy: string) => complete(known, policy.split('\n').at(-1) ?? '', policy)?.options.filter(({ type }) => type === 'method').map(({ label }) => label);
    expect(methods(`${adds}principal.`)).toEqual([]);
    expect(methods(`${adds}context.input.id.`)).toEqual([]);
    expect(methods(`${adds}resource.tags.`)).toEqual(['contains', 'containsAll', 'containsAny', 'isEmpty']);
    expect(methods(`${adds}resource.since.`)).toContain('durationSince');
    // Of what is not known, all.
    expect(labels('permit (principal, action, resource)\nwhen { resource.')).toContain('lead');
  });
  it('completes what the company declares itself, and leaves that to its own actions', () => {
    const own = readSchema('namespace Ok { entity Actor { kind: String }; action tick; }', `
// What the shop asks about.
namespace Shop {
  // Somebody at the till.
  @doc("more")
  entity Clerk, Guest = { senior: Bool, boss?: Clerk };
  entity Order = { days: Long, by: Ok::Actor };
  // Gives money back.
  action refund, "write off" appliesTo { principal: [Clerk], resource: [Order], context: { amount: Long } };
}
entity User;
action view appliesTo { principal: [User], resource: [User] };`);
    const labels = (policy: string) => complete(own, policy.split('\n').at(-1) ?? '', policy)?.options.filter(({ type }) => type !== 'method' && type !== 'keyword').map(({ label }) => label);
    expect(labels('permit (principal is ')).toEqual(['Ok::Actor', 'Shop::Clerk', 'Shop::Guest', 'Shop::Order', 'User']);
    expect(labels('permit (principal is Shop::')).toEqual(['Action', 'Clerk', 'Guest', 'Order']);
    expect(labels('permit (principal, action == Shop::Action::"')).toEqual(['refund', 'write off']);
    expect(labels('permit (principal, action == Action::"')).toEqual(['view']);
    const refunds = 'permit (principal, action == Shop::Action::"refund", resource)\nwhen { ';
    expect(labels(`${refunds}context.`)).toEqual(['amount']);
    expect(labels(`${refunds}principal.`)).toEqual(['senior', 'boss']);
    expect(labels(`${refunds}principal.boss.`)).toEqual(['senior', 'boss']);
    expect(labels(`${refunds}resource.by.`)).toEqual(['kind']);
    expect(labels('permit (principal == Shop::Clerk::"a", action, resource)\nwhen { principal.')).toEqual(['senior', 'boss']);
    const line = 'principal is Shop::Clerk && action == Shop::Action::"refund"';
    expect(sentenceAt(own, line, line.indexOf('Clerk'))).toBe('Shop::Clerk: Somebody at the till.');
    expect(sentenceAt(own, line, line.indexOf('refund'))).toBe('refund: Gives money back.');
  });
  it('reads what nests too deep as far as that goes', () => {
    const deep = readSchema(`namespace D { entity A = ${'{ a: '.repeat(6_000)}`, 'namespace E { entity B = { tags: Set<{ a: Long, b: Long }>, c: Long }; entity C; }');
    expect(deep.types.has('D::A')).toBe(true);
    expect(deep.records.get('E::B')?.map(({ name }) => name)).toEqual(['tags', 'c']);
    expect(deep.types.has('E::C')).toBe(true);
  });
  it('has a sentence for what the mouse is on', () => {
    const line = 'action == Ok::Action::"token.issue" && principal.kind == "agent" && x is Ok::Actor';
    expect(sentenceAt(schema, line, line.indexOf('token'))).toContain('Issue an API token');
    expect(sentenceAt(schema, line, line.indexOf('kind'))).toBe('Ok::Actor.kind: String, person, agent');
    expect(sentenceAt(schema, line, line.length - 1)).toBe('Ok::Actor: A person or an agent.');
    expect(sentenceAt(schema, line, 0)).toBeUndefined();
  });
});
