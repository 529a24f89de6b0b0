// The server counts bytes of UTF-8, an editor counts units of UTF-16.

/** Turns byte offsets of a text into its UTF-16 offsets. An offset inside a character is taken to its beginning. */
export function fromBytes(text: string): (bytes: number) => number {
  const starts: number[] = [];
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    const units = point > 0xffff ? 2 : 1;
    const length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (let i = 0; i < length; i += 1) starts.push(at);
    at += units;
    bytes += length;
  }
  return (offset) => (offset >= bytes ? text.length : (starts[Math.max(0, offset)] ?? text.length));
}
