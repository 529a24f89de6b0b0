// What the company's Cedar schema says, for completion and for the sentence on hover.

export type Field = { name: string; type: string; doc: string; fields?: Field[] };
/** A field with the type that has it, of an entity or of a named type. */
export type Attribute = { name: string; type: string; of: string; doc: string };
type Action = { principal: string[]; resource: string[]; context: Field[] | string };
/** Entity types with what is said of them, the fields of entities and of named types, and what each action is about. */
export type Schema = { types: Map<string, string>; records: Map<string, Field[]>; actions: Map<string, Action>; attributes: Attribute[] };

const TOKEN = /\n|\/\/[^\n]*|"[^"]*"|[A-Za-z_]\w*(?:::\w+)*|[{}[\]<>:,;?=()]/g;

/** A word of the schema, with the note on the lines before it, or behind it. */
type Token = { text: string; before: string; behind: string };

function tokensOf(schema: string): Token[] {
  const tokens: Token[] = [];
  const notes: string[] = [];
  let last: Token | undefined;
  for (const [text] of schema.matchAll(TOKEN)) {
    if (text === '\n') last = undefined;
    else if (!text.startsWith('//')) tokens.push((last = { text, before: notes.splice(0).join(' '), behind: '' }));
    else if (last) last.behind = text.slice(2).trim();
    else notes.push(text.slice(2).trim());
  }
  return tokens;
}

/** Reads a Cedar schema as people write it: <https://docs.cedarpolicy.com/schema/human-readable-schema.html>. */
export function readSchema(text: string): Schema {
  const tokens = tokensOf(text);
  let at = 0;
  const next = () => tokens[at]?.text;
  const taken = (wanted: string) => next() === wanted && ((at += 1), true);
  const until = (...ends: string[]) => {
    while (at < tokens.length && !ends.includes(next() ?? '')) at += 1;
  };
  /** A type, which may be a list: `[Company, Team]`. */
  const type = () => {
    let text = '';
    for (let depth = 0; at < tokens.length && (depth > 0 || !/^[,}]$/.test(next() ?? '')); at += 1) {
      depth += next() === '[' ? 1 : next() === ']' ? -1 : 0;
      text += next();
    }
    return text;
  };
  const record = (): Field[] => {
    const fields: Field[] = [];
    at += 1;
    while (at < tokens.length && !taken('}')) {
      const { text: name = '', before = '' } = tokens[at] ?? {};
      at += 1;
      taken('?');
      taken(':');
      const own = next() === '{' ? { type: 'record', fields: record() } : { type: type() };
      taken(',');
      fields.push({ name: name.replaceAll('"', ''), doc: tokens[at - 1]?.behind || before, ...own });
    }
    return fields;
  };
  const schema: Schema = { types: new Map(), records: new Map(), actions: new Map(), attributes: [] };
  while (at < tokens.length) {
    const { text: word, before = '' } = tokens[at] ?? {};
    at += 1;
    if (word === 'entity' || word === 'type') {
      const name = next() ?? '';
      if (word === 'entity') schema.types.set(name, before);
      until('{', ';');
      if (next() === '{') schema.records.set(name, record());
    } else if (word === 'action') {
      const name = (next() ?? '').replaceAll('"', '');
      until('{', ';');
      if (next() !== '{') continue;
      const parts = new Map(record().map((part) => [part.name, part]));
      const names = (part: string) => (parts.get(part)?.type ?? '').split(/[^\w:]+/).filter(Boolean);
      const context = parts.get('context');
      schema.actions.set(name, { principal: names('principal'), resource: names('resource'), context: context?.fields ?? context?.type ?? [] });
    }
  }
  schema.attributes = [...schema.records].flatMap(([of, fields]) => flat(fields).map(({ name, type: own, doc }) => ({ name, type: own, of, doc })));
  return schema;
}

const flat = (fields: Field[]): Field[] => fields.flatMap((field) => [field, ...flat(field.fields ?? [])]);
