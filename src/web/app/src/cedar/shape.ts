// What stands behind a dot: the schema's records, and which of them a policy's scope leaves.

export type Field = { name: string; type: string; fields?: Field[] };
type Action = { principal: string[]; resource: string[]; context: Field[] | string };
export type Shapes = { records: Map<string, Field[]>; actions: Map<string, Action> };

const TOKEN = /\/\/[^\n]*|"[^"]*"|[A-Za-z_]\w*(?:::\w+)*|[{}[\]<>:,;?=()]/g;

/** Reads a Cedar schema as text: <https://docs.cedarpolicy.com/schema/human-readable-schema.html>. */
export function readShapes(schema: string): Shapes {
  const tokens = [...schema.matchAll(TOKEN)].map(([text]) => text).filter((text) => !text.startsWith('//'));
  let at = 0;
  const taken = (text: string) => tokens[at] === text && ((at += 1), true);
  const until = (...ends: string[]) => {
    const begin = at;
    while (at < tokens.length && !ends.includes(tokens[at] ?? '')) at += 1;
    return tokens.slice(begin, at);
  };
  const record = (): Field[] => {
    const fields: Field[] = [];
    at += 1;
    while (at < tokens.length && !taken('}')) {
      const name = (tokens[at] ?? '').replaceAll('"', '');
      at += 1;
      taken('?');
      taken(':');
      if (tokens[at] === '{') fields.push({ name, type: 'record', fields: record() });
      else fields.push({ name, type: until(',', '}').join('') });
      taken(',');
    }
    return fields;
  };
  const records = new Map<string, Field[]>();
  const actions = new Map<string, Action>();
  while (at < tokens.length) {
    const word = tokens[at];
    at += 1;
    if (word === 'entity' || word === 'type') {
      const name = tokens[at] ?? '';
      until('{', ';');
      if (tokens[at] === '{') records.set(name, record());
    } else if (word === 'action') {
      const name = (tokens[at] ?? '').replaceAll('"', '');
      until('{', ';');
      if (tokens[at] !== '{') continue;
      const parts = new Map(record().map((part) => [part.name, part]));
      const names = (part: string) => (parts.get(part)?.type ?? '').replaceAll(/[[\]]/g, '').split('|').filter(Boolean);
      const context = parts.get('context');
      actions.set(name, { principal: names('principal'), resource: names('resource'), context: context?.fields ?? context?.type ?? [] });
    }
  }
  return { records, actions };
}

const named = (type: string) => type.replace(/^Ok::/, '');

/** The fields that `chain`, such as `context.input`, may have in a policy whose text before it is `policy`; none where the chain is none of the policy's variables. */
export function fieldsAt(shapes: Shapes, policy: string, chain: string): Field[] | undefined {
  const [root = '', ...path] = chain.split('.');
  let fields = rootFields(shapes, policy, root);
  for (const name of path) {
    const steps = fields?.filter((field) => field.name === name) ?? [];
    fields = unique(steps.flatMap(({ type, fields: own }) => own ?? shapes.records.get(named(type)) ?? []));
  }
  return fields;
}

function rootFields({ records, actions }: Shapes, policy: string, root: string): Field[] | undefined {
  const asked = [...policy.matchAll(/Action::"([\w.]+)"/g)].flatMap(([, name]) => actions.get(name ?? '') ?? []);
  if (root === 'context') {
    const contexts = asked.length > 0 ? asked.map(({ context }) => context) : ['Facts'];
    return unique(contexts.flatMap((context) => (typeof context === 'string' ? (records.get(named(context)) ?? []) : context)));
  }
  if (root !== 'principal' && root !== 'resource') return undefined;
  const is = new RegExp(`\\b${root}\\s+is\\s+(?:Ok::)?(\\w+(?:::\\w+)*)`).exec(policy)?.[1];
  const types = is ? [is] : asked.flatMap((action) => action[root]);
  return types.length > 0 ? unique(types.flatMap((type) => records.get(named(type)) ?? [])) : undefined;
}

const unique = (fields: Field[]): Field[] => [...new Map(fields.map((field) => [field.name, field])).values()];
