// What the company's Cedar schemas say, for completion and for the sentence on hover. Names stand with their namespace.

export type Field = { name: string; type: string; doc: string; fields?: Field[] };
/** A field with the type that has it, of an entity or of a named type. */
export type Attribute = { name: string; type: string; of: string; doc: string };
type Action = { principal: string[]; resource: string[]; context: Field[] | string; doc: string };
/** Entity types with what is said of them, the fields of entities and of named types, and what each action, such as `Ok::Action::"tick"`, is about. */
export type Schema = { types: Map<string, string>; records: Map<string, Field[]>; actions: Map<string, Action>; attributes: Attribute[] };

const TOKEN = /\n|\/\/[^\n]*|"[^"]*"|[A-Za-z_]\w*(?:::\w+)*|[{}[\]<>:,;?=()]/g;
/** The server refuses brackets that nest deeper. */
const DEEPEST = 64;
const ANNOTATION = /@\w+\s*(?:\(\s*"(?:[^"\\]|\\.)*"\s*\))?/g;

/** A word of the schema, with the note on the lines before it, or behind it. */
type Token = { text: string; before: string; behind: string };

function tokensOf(schema: string): Token[] {
  const tokens: Token[] = [];
  const notes: string[] = [];
  let last: Token | undefined;
  for (const [text] of schema.replace(ANNOTATION, '').matchAll(TOKEN)) {
    if (text === '\n') last = undefined;
    else if (!text.startsWith('//')) tokens.push((last = { text, before: notes.splice(0).join(' '), behind: '' }));
    else if (last) last.behind = text.slice(2).trim();
    else notes.push(text.slice(2).trim());
  }
  return tokens;
}

/** Reads Cedar schemas as people write them: <https://docs.cedarpolicy.com/schema/human-readable-schema.html>. */
export function readSchema(...texts: string[]): Schema {
  const schema: Schema = { types: new Map(), records: new Map(), actions: new Map(), attributes: [] };
  for (const text of texts) read(text, schema);
  schema.attributes = [...schema.records].flatMap(([of, fields]) => flat(fields).map(({ name, type, doc }) => ({ name, type, of, doc })));
  return schema;
}

function read(text: string, schema: Schema) {
  const tokens = tokensOf(text);
  let at = 0;
  let namespace = '';
  const next = () => tokens[at]?.text;
  const taken = (wanted: string) => next() === wanted && ((at += 1), true);
  const until = (...ends: string[]) => {
    while (at < tokens.length && !ends.includes(next() ?? '')) at += 1;
  };
  const named = (name: string) => namespace + name.replaceAll('"', '');
  /** The names that are declared together: `view, edit`. */
  const declared = () => {
    const names: string[] = [];
    do names.push(named(tokens[at++]?.text ?? ''));
    while (taken(','));
    return names;
  };
  /** A type, which may be a list: `[Company, Team]`. */
  const type = () => {
    let text = '';
    for (let depth = 0; at < tokens.length && (depth > 0 || !/^[,}]$/.test(next() ?? '')); at += 1) {
      depth += /^[[{<]$/.test(next() ?? '') ? 1 : /^[\]}>]$/.test(next() ?? '') ? -1 : 0;
      text += next();
    }
    return text;
  };
  const record = (depth = 0): Field[] => {
    const fields: Field[] = [];
    at += 1;
    while (at < tokens.length && !taken('}')) {
      const { text: name = '', before = '' } = tokens[at] ?? {};
      at += 1;
      taken('?');
      taken(':');
      const own = next() === '{' && depth < DEEPEST ? { type: 'record', fields: record(depth + 1) } : { type: type() };
      taken(',');
      fields.push({ name: name.replaceAll('"', ''), doc: tokens[at - 1]?.behind || before, ...own });
    }
    return fields;
  };
  const own = { types: new Map<string, string>(), records: new Map<string, Field[]>(), actions: new Map<string, Action>() };
  while (at < tokens.length) {
    const { text: word, before = '' } = tokens[at] ?? {};
    at += 1;
    if (word === 'namespace') {
      namespace = `${next()}::`;
      until('{');
      at += 1;
    } else if (word === '}') namespace = '';
    else if (word === 'entity' || word === 'type') {
      const names = declared();
      if (word === 'entity') for (const name of names) own.types.set(name, before);
      until('{', ';');
      const fields = next() === '{' ? record() : undefined;
      if (fields) for (const name of names) own.records.set(name, fields);
    } else if (word === 'action') {
      const names = declared();
      until('{', ';');
      if (next() !== '{') continue;
      const parts = new Map(record().map((part) => [part.name, part]));
      const typesOf = (part: string) => (parts.get(part)?.type ?? '').split(/[^\w:]+/).filter(Boolean);
      const context = parts.get('context');
      const action = { principal: typesOf('principal'), resource: typesOf('resource'), context: context?.fields ?? context?.type ?? [], doc: before };
      for (const name of names) own.actions.set(`${namespace}Action::"${name.slice(namespace.length)}"`, action);
    }
  }
  // A name of the same namespace is written without it.
  const isThere = (name: string) => own.types.has(name) || own.records.has(name);
  const whole = (of: string) => (type: string) => type.replace(/[A-Za-z_]\w*(?:::\w+)*/g, (name) => (isThere(prefix(of) + name) ? prefix(of) + name : name));
  const all = (of: string, fields: Field[]): Field[] => fields.map((field) => ({ ...field, type: whole(of)(field.type), ...(field.fields && { fields: all(of, field.fields) }) }));
  for (const [name, doc] of own.types) schema.types.set(name, doc);
  for (const [name, fields] of own.records) schema.records.set(name, all(name, fields));
  for (const [name, { principal, resource, context, doc }] of own.actions) {
    const of = name.replace(/Action::"[^"]*"$/, '');
    schema.actions.set(name, { principal: principal.map(whole(of)), resource: resource.map(whole(of)), context: typeof context === 'string' ? whole(of)(context) : all(of, context), doc });
  }
}

/** The namespace of a name, with the colons behind it. */
export const prefix = (name: string) => name.slice(0, name.lastIndexOf('::') + 2 || 0);

const flat = (fields: Field[]): Field[] => fields.flatMap((field) => [field, ...flat(field.fields ?? [])]);
