import { fileURLToPath } from 'node:url';

/** Components are written for React, and run on Preact, which is a third of the script (docs/decisions/0030). */
export const preact = [
  { find: /^react$/, replacement: fileURLToPath(new URL('src/react.ts', import.meta.url)) },
  { find: /^react-dom$/, replacement: 'preact/compat' },
  { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
  { find: /^react-dom\/test-utils$/, replacement: 'preact/test-utils' },
  { find: /^react\/jsx-(dev-)?runtime$/, replacement: 'preact/jsx-runtime' },
];
