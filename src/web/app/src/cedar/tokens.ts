// Cedar in words: enough to colour it. What is right or wrong the server says (POST /policy/check).

export type TokenKind = 'comment' | 'meta' | 'string' | 'number' | 'keyword' | 'typeName' | 'operator' | null;

const RULES: [RegExp, TokenKind][] = [
  [/^\s+/, null],
  [/^\/\/.*/, 'comment'],
  [/^@[A-Za-z_]\w*/, 'meta'],
  [/^"(?:[^"\\]|\\.)*"?/, 'string'],
  [/^\d+/, 'number'],
  [/^(?:permit|forbid|when|unless|if|then|else|in|is|has|like|true|false|principal|action|resource|context|namespace|entity|type|appliesTo|enum|tags)\b/, 'keyword'],
  [/^[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+(?:::)?/, 'typeName'],
  [/^[A-Za-z_]\w*::/, 'typeName'],
  [/^[A-Za-z_]\w*/, null],
  [/^(?:==|!=|<=|>=|&&|\|\||[!<>+\-*])/, 'operator'],
];

/** The first token of a line, and how long it is. */
export function token(text: string): { kind: TokenKind; length: number } {
  for (const [rule, kind] of RULES) {
    const found = rule.exec(text);
    if (found) return { kind, length: found[0].length };
  }
  return { kind: null, length: 1 };
}

export function tokens(line: string): { kind: TokenKind; text: string }[] {
  const found: { kind: TokenKind; text: string }[] = [];
  for (let at = 0; at < line.length; ) {
    const { kind, length } = token(line.slice(at));
    found.push({ kind, text: line.slice(at, at + length) });
    at += length;
  }
  return found;
}
