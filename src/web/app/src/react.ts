// React, as Preact has it, with what Mantine asks for besides.
import type { ComponentChildren } from 'preact';

// @ts-expect-error Its types are those of one object; what uses this is typed by React's own.
export * from 'preact/compat';
export { default } from 'preact/compat';

/** What is hidden is not kept: nothing here asks for that. */
export function Activity({ mode = 'visible', children }: { mode?: 'visible' | 'hidden'; children?: ComponentChildren }) {
  return mode === 'hidden' ? null : children;
}
