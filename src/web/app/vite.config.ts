import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite';

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

/** The page names all that its first script leads to, so that it is loaded at once and not one after the other. */
function nameMain(): Plugin {
  return {
    name: 'name-main',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {}, chunk: first }) {
        const tags = new Map<string, HtmlTagDescriptor>();
        const add = (file: string, rel: string) => tags.set(file, { tag: 'link', attrs: { rel, crossorigin: true, href: `/${file}` }, injectTo: 'head' });
        // Styles stand in the order of their imports, as Vite's own links do.
        const name = (file: string) => {
          const chunk = bundle[file];
          if (chunk?.type !== 'chunk' || chunk === first || first?.imports.includes(file) || tags.has(file)) return;
          add(file, 'modulepreload');
          chunk.imports.forEach(name);
          for (const style of chunk.viteMetadata?.importedCss ?? []) add(style, 'stylesheet');
        };
        first?.dynamicImports.forEach(name);
        return [...tags.values()];
      },
    },
  };
}

const server = process.env.OK_SERVER ?? 'http://127.0.0.1:8080';
// The server takes pages of its own alone.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  plugins: [react(), nameMain(), precompress()],
  // The server puts a fresh nonce in the place of this word each time it hands out the page.
  html: { cspNonce: 'OK_NONCE' },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2023',
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    // What nearly every page shares is one file: a slow machine takes longer for many small ones. The first script waits for none of it.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first', test: /src.(session|ahead)/, priority: 1 }, { name: 'base', minShareCount: 24 }] } } },
  },
  server: { proxy: { '/api': proxied, '/v1': proxied } },
});
