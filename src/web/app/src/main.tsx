import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './theme.css';

import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { meReadOptions, queries } from './api';
import { lendNonce, nonce, trustStyles } from './nonce';
import { cansOptions } from './parts/guard';
import { router } from './router';
import { currentToken } from './session';
import { theme } from './theme';

trustStyles();
lendNonce();
/** A server that takes longer than this is waited for with something to look at. */
const PATIENCE_MS = 800;

/** What every page needs has been asked ahead, and is mostly there already: then a page is drawn once, and not in parts. */
async function ready() {
  if (!currentToken()) return;
  const known = Promise.all([queries.prefetchQuery({ ...meReadOptions(), staleTime: 60_000 }), queries.prefetchQuery(cansOptions())]);
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
void router.load();
void ready().then(() => root && createRoot(root).render(page));
