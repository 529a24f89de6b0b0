export type Bytes = Uint8Array<ArrayBuffer>;

export function fromBase64(text: string): Bytes {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw new Error('this is not base64');
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

export const toBase64 = (bytes: Bytes) => btoa(String.fromCharCode(...bytes));

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

export const text = (bytes: Bytes): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

export function join(...parts: Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export const isSame = (a: Bytes, b: Bytes) => a.length === b.length && a.every((byte, at) => byte === b[at]);

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

export const hex = (bytes: Bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
