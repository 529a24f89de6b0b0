import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Writes `<file>.br` beside every text file that the server hands out as it is. */
function precompress(): Plugin {
  const textual = /\.(js|css|svg)$/;
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle({ dir }) {
      if (!dir) return;
      const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
      for (const file of files.filter(({ name }) => textual.test(name))) {
        const path = join(file.parentPath, file.name);
        const text = readFileSync(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
        writeFileSync(`${path}.br`, brotliCompressSync(text, { params }));
      }
    },
  };
}

const server = process.env.OK_SERVER ?? 'http://127.0.0.1:8080';
// The server takes pages of its own alone.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  plugins: [react(), precompress()],
  // The server puts a fresh nonce in the place of this word each time it hands out the page.
  html: { cspNonce: 'OK_NONCE' },
  build: { outDir: '../dist', emptyOutDir: true, assetsInlineLimit: 0, target: 'es2023', chunkSizeWarningLimit: 700, modulePreload: { polyfill: false } },
  server: { proxy: { '/api': proxied, '/v1': proxied } },
});
