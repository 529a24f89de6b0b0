// Every call to the server goes through the generated client; this is how it is set up, and what its errors are.

import { QueryClient } from '@tanstack/react-query';
import { askOnce } from './ahead';
import { client } from './api/client.gen';
import { currentToken, signOut } from './session';
import { onRelease, refusalOf, wasRefused } from './stopped';

export * from './api/sdk.gen';
export * from './api/@tanstack/react-query.gen';
export type * from './api/types.gen';

/** What the server answered in place of what was asked for. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problems: string[] = [],
    readonly retryAfter?: number,
  ) {
    super(message);
    this.name = 'Refused';
  }
}

/** The server did not answer at all. */
export class Unreachable extends Error {
  constructor() {
    super('the server does not answer');
    this.name = 'Unreachable';
  }
}

function refusal(error: unknown, response: Response): Refused {
  const retry = Number(response.headers.get('retry-after')) || undefined;
  if (typeof error === 'object' && error !== null && 'error' in error && 'message' in error) {
    const { error: code, message, problems } = error as { error: string; message: string; problems?: string[] };
    return new Refused(response.status, code, message, problems, retry);
  }
  return new Refused(response.status, 'unknown', typeof error === 'string' && error ? error : `the server answered ${response.status}`);
}

client.setConfig({ baseUrl: '', auth: () => currentToken(), fetch: async (request) => refusalOf(request as Request) ?? askOnce(request as Request) });

client.interceptors.error.use((error, response, request) => {
  if (error instanceof Refused) return error;
  if (!response) return error instanceof DOMException && error.name === 'AbortError' ? error : new Unreachable();
  const refused = refusal(error, response);
  if (refused.status === 401) signOut('refused');
  if (refused.status === 403) wasRefused(request, refused.message);
  return refused;
});

export const isRefused = (error: unknown, status?: number): error is Refused =>
  error instanceof Refused && (status === undefined || error.status === status);

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => (error instanceof Unreachable || isRefused(error, 503)) && count < 3,
      refetchOnWindowFocus: true,
    },
  },
});

onRelease(() => void queries.invalidateQueries());
