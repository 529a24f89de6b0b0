import { defineConfig } from '@hey-api/openapi-ts';

// The client is made from the document that the server serves; `npm run api` writes it anew.
export default defineConfig({
  input: '../../../docs/reference/openapi.json',
  output: { path: process.env.OK_API_OUT ?? 'src/api' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', '@tanstack/react-query'],
});
