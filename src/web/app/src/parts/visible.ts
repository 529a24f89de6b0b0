/** What turns the direction of a text, moves a cursor or has no width: the server's `types::visible` names the same. */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** A text as it can be trusted to read: what would steer it is written out, `\u{202e}`. */
export const visible = (text: string): string => text.replace(STEERING, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);

/** Names the page in the browser's own frame, where a text could steer what stands around it. */
export function entitle(title: string) {
  document.title = `${visible(title)} · ok`;
}
