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
// These two have been asked ahead: nothing else may ask for them before.
if (currentToken()) {
  void queries.prefetchQuery({ ...meReadOptions(), staleTime: 60_000 });
  void queries.prefetchQuery(cansOptions());
}

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={nonce}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
