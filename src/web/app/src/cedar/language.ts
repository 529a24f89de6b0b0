// CodeMirror for Cedar and for the YAML beside it: colours, completion, hover.

import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { OPERATIONS } from '../api/operations.gen';
import { fieldsAt, typesAt } from './fields';
import type { Schema } from './schema';
import { token } from './tokens';

const cedar = StreamLanguage.define({
  name: 'cedar',
  token(stream) {
    const { kind, length } = token(stream.string.slice(stream.pos));
    stream.pos += length;
    return kind;
  },
  languageData: { commentTokens: { line: '//' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
});

const yaml = StreamLanguage.define({
  name: 'yaml',
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/#.*/)) return 'comment';
    if (stream.match(/"(?:[^"\\]|\\.)*"?/) || stream.match(/'[^']*'?/)) return 'string';
    if (stream.match(/[\w.-]+(?=\s*:(\s|$))/)) return 'typeName';
    if (stream.match(/\b\d+(\.\d+)?\b(?![\w-])/)) return 'number';
    if (stream.match(/\b(true|false|null|allow|deny|needs_approval)\b/)) return 'keyword';
    if (stream.match(/[\w./-]+/)) return null;
    stream.next();
    return 'operator';
  },
  languageData: { commentTokens: { line: '#' } },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-key)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: tags.comment, color: 'var(--code-note)' },
  { tag: tags.meta, color: 'var(--code-note)' },
  { tag: tags.number, color: 'var(--code-number)' },
]);

const WORDS = ['permit', 'forbid', 'when', 'unless', 'principal', 'action', 'resource', 'context', 'has', 'like', 'is', 'in', 'if', 'then', 'else', 'true', 'false'];

type Option = { label: string; detail?: string; info?: string; type: string };

/** The company's own actions of a namespace. */
const ownActions = (schema: Schema, namespace: string): [string, string][] =>
  [...schema.actions].filter(([name]) => name.startsWith(`${namespace}Action::"`)).map(([name, { doc }]) => [name.slice(namespace.length + 'Action::"'.length, -1), doc]);

/** What may stand behind `is`, `in` or a namespace: types, without what is written of them already. */
const typesIn = (schema: Schema, namespace: string): Option[] =>
  [...schema.types].filter(([name]) => name.startsWith(namespace)).map(([name, info]) => ({ label: name.slice(namespace.length), info, type: 'type' }));

/** The methods of Cedar's types: <https://docs.cedarpolicy.com/policies/syntax-operators.html>. */
const METHODS: [RegExp, string[]][] = [
  [/^Set</, ['contains', 'containsAll', 'containsAny', 'isEmpty']],
  [/^decimal$/, ['lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual']],
  [/^datetime$/, ['offset', 'durationSince', 'toDate', 'toTime']],
  [/^duration$/, ['toMilliseconds', 'toSeconds', 'toMinutes', 'toHours', 'toDays']],
  [/^ipaddr$/, ['isIpv4', 'isIpv6', 'isLoopback', 'isMulticast', 'isInRange']],
];

/** The methods of what may have these types; where that is not known, those of sets. */
function methods(types: string[] | undefined): Option[] {
  const found = types ? METHODS.filter(([of]) => types.some((type) => of.test(type))) : METHODS.slice(0, 1);
  return found.flatMap(([, names]) => names.map((label) => ({ label, type: 'method' })));
}

/** What may stand at a place, of a policy whose text before it is `policy`: an operation within `Action::"`, a type behind `Ok::`, an attribute behind a dot. */
export function complete(schema: Schema, before: string, policy = before): { from: number; options: Option[] } | null {
  const found = (typed: string | undefined, options: Option[]) => ({ from: before.length - (typed ?? '').length, options });
  const action = /((?:\w+::)*)Action::"([^"]*)$/.exec(before);
  if (action) {
    const known = action[1] === 'Ok::' ? Object.entries(OPERATIONS) : ownActions(schema, action[1] ?? '');
    return found(action[2], known.map(([label, info]) => ({ label, info, type: 'function' })));
  }
  const type = /\b(?:is|in)\s+(\w*)$/.exec(before);
  if (type) return found(type[1], [...typesIn(schema, ''), ...['principal', 'resource'].map((label) => ({ label, type: 'keyword' }))]);
  const inside = /\b((?:\w+::)+)(\w*)$/.exec(before);
  if (inside) {
    const hasActions = inside[1] === 'Ok::' || ownActions(schema, inside[1] ?? '').length > 0;
    return found(inside[2], [...(hasActions ? [{ label: 'Action', info: 'an operation', type: 'type' }] : []), ...typesIn(schema, inside[1] ?? '')]);
  }
  const member = /((?:\w+\.)*(?:\w+|\)))\.(\w*)$/.exec(before);
  if (member) {
    const chain = member[1] ?? '';
    const own = fieldsAt(schema, policy, chain)?.map(({ name, type, doc }) => ({ label: name, detail: type, info: doc, type: 'property' }));
    const all = () => schema.attributes.map(({ name, type, of, doc }) => ({ label: name, detail: `${of}: ${type}`, info: doc, type: 'property' }));
    const isEntity = chain === 'principal' || chain === 'resource' || chain === 'context';
    return found(member[2], [...(own ?? all()), ...(isEntity ? [] : methods(typesAt(schema, policy, chain)))]);
  }
  const word = /\w+$/.exec(before);
  return word ? found(word[0], WORDS.map((label) => ({ label, type: 'keyword' }))) : null;
}

/** The schema's sentence about the word at a place of a line. */
export function sentenceAt(schema: Schema, line: string, at: number): string | undefined {
  for (const found of line.matchAll(/"[^"]+"|(?:\w+::)*[A-Za-z_]\w*/g)) {
    if (found.index > at || found.index + found[0].length < at) continue;
    const [before, word] = [line.slice(0, found.index), found[0].replaceAll('"', '')];
    const namespace = /((?:\w+::)*)Action::$/.exec(before)?.[1];
    const action = namespace === undefined ? undefined : schema.actions.get(`${namespace}Action::"${word}"`);
    const said = (namespace ?? 'Ok::') === 'Ok::' ? OPERATIONS[word] : undefined;
    if (said) return `${word}: ${said}`;
    if (action) return `${word}: ${action.doc || 'an action of the company'}`;
    if (schema.types.has(word)) return `${word}: ${schema.types.get(word) || 'an entity type of the company'}`;
    const owners = schema.attributes.filter(({ name }) => name === word);
    if (owners.length > 0 && /[.]$|\bhas\s+$/.test(before)) return owners.map(({ of, type, doc }) => `${of}.${word}: ${type}${doc ? `, ${doc}` : ''}`).join('\n');
  }
  return undefined;
}

/** A policy is shorter, and so is a line of one. */
const LOOKED_AT = 8_000;

/** `schema` is read anew each time: it changes while its own file is edited. */
export function languageOf(file: string, schema: () => Schema): Extension[] {
  if (!/\.cedar$/.test(file)) return [file.endsWith('.cedarschema') ? cedar : yaml, syntaxHighlighting(colours)];
  const source = (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const policy = context.state.sliceDoc(Math.max(0, context.pos - LOOKED_AT), context.pos).split(/;\s*$/m).at(-1);
    const before = line.text.slice(0, context.pos - line.from);
    if (before.length > LOOKED_AT) return null;
    const found = complete(schema(), before, policy);
    if (!found || (!context.explicit && found.from === context.pos - line.from && !/[.":]$/.test(line.text.slice(0, found.from)))) return null;
    return { from: line.from + found.from, options: found.options, validFor: /^[\w.]*$/ };
  };
  const hover = hoverTooltip((view, pos) => {
    const line = view.state.doc.lineAt(pos);
    if (line.length > LOOKED_AT) return null;
    const text = sentenceAt(schema(), line.text, pos - line.from);
    if (!text) return null;
    return {
      pos,
      create() {
        const dom = document.createElement('div');
        dom.className = 'cm-sentence';
        dom.textContent = text;
        return { dom };
      },
    };
  });
  return [cedar, syntaxHighlighting(colours), autocompletion({ override: [source] }), hover];
}
