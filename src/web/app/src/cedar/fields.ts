// What stands behind a dot of a policy, as far as its scope tells.

import type { Field, Schema } from './schema';

/** The fields that `chain`, such as `context.input`, may have in a policy whose text before it is `policy`; none where the chain is none of the policy's variables. */
export function fieldsAt(schema: Schema, policy: string, chain: string): Field[] | undefined {
  const [root = '', ...path] = chain.split('.');
  let fields = rootFields(schema, policy, root);
  for (const name of path) {
    const steps = fields?.filter((field) => field.name === name) ?? [];
    fields = unique(steps.flatMap(({ type, fields: own }) => own ?? schema.records.get(type) ?? []));
  }
  return fields;
}

/** The types that `chain` may have there; none where that is not known. */
export function typesAt(schema: Schema, policy: string, chain: string): string[] | undefined {
  const at = chain.lastIndexOf('.');
  if (at < 0) return undefined;
  return fieldsAt(schema, policy, chain.slice(0, at))
    ?.filter(({ name }) => name === chain.slice(at + 1))
    .map(({ type }) => type);
}

function rootFields({ records, actions }: Schema, policy: string, root: string): Field[] | undefined {
  const names = [...policy.matchAll(/(?:\w+::)*Action::"[^"]+"/g)].map(([name]) => name);
  const asked = names.flatMap((name) => actions.get(name) ?? []);
  if (root === 'context') {
    // Of actions that no schema here declares nobody knows the context.
    if (asked.length === 0 && names.length > 0 && !names.some((name) => name.startsWith('Ok::'))) return [];
    const contexts = asked.length > 0 ? asked.map(({ context }) => context) : ['Ok::Facts'];
    return unique(contexts.flatMap((context) => (typeof context === 'string' ? (records.get(context) ?? []) : context)));
  }
  if (root !== 'principal' && root !== 'resource') return undefined;
  const is = new RegExp(`\\b${root}\\s*(?:\\bis\\b|==)\\s*((?:\\w+::)*\\w+)`).exec(policy)?.[1];
  const types = is ? [is] : asked.flatMap((action) => action[root]);
  return types.length > 0 ? unique(types.flatMap((type) => records.get(type) ?? [])) : undefined;
}

const unique = (fields: Field[]): Field[] => [...new Map(fields.map((field) => [field.name, field])).values()];
