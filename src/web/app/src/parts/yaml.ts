// A value as YAML that is read, not parsed again: what it holds, one below the other, without quotes where they say nothing.

const isPlain = (text: string) => /^[\p{L}\d_][^\n:#]*$/u.test(text) && text.trim() === text && !/^(true|false|null|[\d.]+)$/.test(text);
const isNothing = (value: object) => Object.keys(value).length === 0;

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  return isPlain(value) ? value : JSON.stringify(value);
}

function block(text: string, pad: string): string {
  return `|\n${text.replace(/\n$/, '').split('\n').map((line) => (line ? `${pad}${line}` : '')).join('\n')}`;
}

export function yaml(value: unknown, depth = 0): string {
  const pad = '  '.repeat(depth);
  if (typeof value === 'string' && value.includes('\n')) return block(value, pad);
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (isNothing(value)) return Array.isArray(value) ? '[]' : '{}';
  if (Array.isArray(value)) return value.map((one) => `${pad}- ${yaml(one, depth + 1).trimStart()}`).join('\n');
  return Object.entries(value)
    .map(([key, one]: [string, unknown]) => {
      const isNested = typeof one === 'object' && one !== null && !isNothing(one);
      return `${pad}${scalar(key)}:${isNested ? '\n' : ' '}${yaml(one, depth + 1)}`;
    })
    .join('\n');
}
