import './mantine.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './theme.css';

import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api';
import { readFirst } from './first-reads';
import { lendNonce, nonce, trustStyles } from './nonce';
import { router } from './router';
import { begin, currentToken, followLinks, joinTabs } from './session';
import { followStops } from './stopped';
import { theme } from './theme';

begin(window.location, window.history, window.sessionStorage);
followLinks(() => queries.clear());
joinTabs();
followStops();
trustStyles();
lendNonce();
/** A server that takes longer than this is waited for with something to look at. */
const PATIENCE_MS = 800;

let isDrawn = false;

/** What the page needs has been asked ahead, and is mostly there already: then it is drawn once, and not in parts. */
async function ready() {
  const loaded = router.load();
  if (!currentToken()) return;
  const known = Promise.all([loaded, readFirst(window.location)]).then(([, href]) => (href && !isDrawn ? router.navigate({ href, replace: true }) : undefined));
  await Promise.race([known, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}

const root = document.getElementById('root');
const page = (
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={nonce}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
);
void ready().then(() => {
  isDrawn = true;
  if (root) createRoot(root).render(page);
});
