import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build, defineConfig, type Plugin, type Rolldown } from 'vite';
import { FIRST_PAGES } from './src/first-pages';

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

/** What a page may load before it is shown, in bytes of script, packed; React alone is 49,000 of it. */
const FIRST_LOAD = 170_000;

/** Every page, with the files of script that it loads before it is shown. */
function pagesOf(context: Rolldown.PluginContext, bundle: Rolldown.OutputBundle) {
  const withImports = (name: string, found = new Set<string>()): Set<string> => {
    const chunk = bundle[name];
    if (chunk?.type !== 'chunk' || found.has(name)) return found;
    found.add(name);
    chunk.imports.forEach((one) => withImports(one, found));
    return found;
  };
  const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
  const program = chunks.find(({ isEntry }) => isEntry);
  const router = [...context.getModuleIds()].find((id) => id.endsWith('/src/router.tsx'));
  if (!program || !router) throw new Error('the program has no router');
  return (context.getModuleInfo(router)?.dynamicallyImportedIds ?? []).map((id) => {
    const chunk = chunks.find(({ facadeModuleId, moduleIds }) => facadeModuleId === id || moduleIds.includes(id));
    if (!chunk) throw new Error(`${id} is in no file`);
    return { page: id.replace(/.*\/pages\//, ''), files: withImports(chunk.fileName, withImports(program.fileName)) };
  });
}

/** Nearly all of what a page loads runs before it is shown: a browser that is told so compiles it beside, as it comes, and not piece by
 * piece while the page waits. <https://explainers-by-googlers.github.io/explicit-javascript-compile-hints-file-based/> */
const EAGERLY = '//# allFunctionsCalledOnLoad\n';

function compiledEagerly(): Plugin {
  return {
    name: 'compiled-eagerly',
    apply: 'build',
    generateBundle: {
      // It counts only as the first line.
      order: 'post',
      handler(_, bundle) {
        const files = new Set(pagesOf(this, bundle).flatMap((page) => [...page.files]));
        for (const chunk of Object.values(bundle)) {
          if (chunk.type === 'chunk' && files.has(chunk.fileName)) chunk.code = EAGERLY + chunk.code;
        }
      },
    },
  };
}

/** Fails where a page loads more script than it may before it is shown. */
function weigh(): Plugin {
  return {
    name: 'weigh',
    apply: 'build',
    writeBundle: {
      order: 'post',
      sequential: true,
      handler({ dir = '' }, bundle) {
        const first = Object.keys(bundle).filter((name) => /first-[^/]*\.js$/.test(name));
        const packed = (name: string) => statSync(join(dir, `${name}.br`)).size;
        const pages = pagesOf(this, bundle).map(({ page, files }) => ({ page, bytes: [...first, ...files].map(packed).reduce((sum, one) => sum + one, 0) }));
        const [heaviest] = pages.sort((a, b) => b.bytes - a.bytes);
        if (!heaviest) throw new Error('the router knows no page');
        this.info(`the heaviest page is ${heaviest.page}: ${heaviest.bytes} bytes of script, packed`);
        const heavy = pages.filter(({ bytes }) => bytes > FIRST_LOAD).map(({ page, bytes }) => `${page} ${bytes}`);
        if (heavy.length > 0) throw new Error(`pages load more than ${FIRST_LOAD} bytes of script before they are shown: ${heavy.join(', ')}`);
      },
    },
  };
}

/** Fails where a component of Mantine is used whose styles `mantine.css` does not import. */
function styled(): Plugin {
  return {
    name: 'styled',
    apply: 'build',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []));
      const used = modules.flatMap((id) => /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id)?.[1] ?? []);
      const imported = readFileSync('src/mantine.css', 'utf8');
      const missing = used.filter((name) => !imported.includes(`/${name}.css'`));
      if (missing.length > 0) throw new Error(`src/mantine.css does not import the styles of ${missing.join(', ')}`);
    },
  };
}

/** What is drawn over a page: no page waits for it, so nothing that one needs may be in a file with it. */
const OPENED = /node_modules\/(@floating-ui|react-remove-scroll|@mantine\/core\/esm\/(utils\/Floating|components\/(Autocomplete|Combobox|Modal|ModalBase|Popover|ScrollArea|Select)))\//;

const target = 'es2023';

/** By address: the files that a page needs beside the program, which names them only once it runs. */
function filesOfPages(bundle: Rolldown.OutputBundle) {
  const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
  const ofProgram = new Set(chunks.filter(({ isEntry }) => isEntry).flatMap(({ fileName, imports }) => [fileName, ...imports]));
  return Object.fromEntries(
    Object.entries(FIRST_PAGES).map(([address, { file }]) => {
      const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/src/pages/${file}.tsx`)));
      if (!chunk) throw new Error(`${file} is in no file`);
      return [address, [chunk.fileName, ...chunk.imports].filter((one) => !ofProgram.has(one)).map((one) => `/${one}`)];
    }),
  );
}

/** Builds the first script as a file of its own, which the page names before all else, and which runs the program. */
function runFirst(): Plugin {
  return {
    name: 'run-first',
    apply: 'build',
    async generateBundle(_, bundle) {
      const define = { FILES_OF_PAGES: JSON.stringify(filesOfPages(bundle)) };
      const built = await build({ configFile: false, publicDir: false, logLevel: 'warn', define, build: { write: false, target, lib: { entry: 'src/first.ts', formats: ['iife'], name: 'first' } } });
      const [script] = (built as Rolldown.RolldownOutput[]).map(({ output }) => output[0].code);
      if (script === undefined) throw new Error('the first script was not built');
      this.emitFile({ type: 'asset', name: 'first.js', source: script });
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const file = Object.keys(bundle).find((name) => /first-[^/]*\.js$/.test(name));
        const font = Object.keys(bundle).find((name) => /inter-latin-wght-normal-[^/]*\.woff2$/.test(name));
        if (!file || !font) throw new Error('the first script, or the font of all texts, was not built');
        const program = /<script type="module"( crossorigin src="[^"]+")[^>]*><\/script>/;
        if (!program.test(html)) throw new Error('the page does not name the program');
        return {
          html: html.replace(program, (_, attributes: string) => `<link rel="modulepreload" id="main"${attributes.replace('src', 'href')} nonce="OK_NONCE">`),
          tags: [
            // Every page is set in it: where it is there in time, a page is laid out once.
            { tag: 'link', attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font}` }, injectTo: 'head-prepend' },
            { tag: 'script', attrs: { src: `/${file}` }, injectTo: 'head-prepend' },
          ],
        };
      },
    },
  };
}

const server = process.env.OK_SERVER ?? 'http://127.0.0.1:8080';
// The server takes pages of its own alone.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  plugins: [react(), runFirst(), styled(), compiledEagerly(), precompress(), weigh()],
  // The server puts a fresh nonce in the place of this word each time it hands out the page.
  html: { cspNonce: 'OK_NONCE' },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target,
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rolldownOptions: {
      onLog: (level, log, tell) => {
        // Packing takes what it takes.
        if (log.code !== 'PLUGIN_TIMINGS') tell(level, log);
      },
      output: {
        // A group is called by all that share it, which says nothing.
        chunkFileNames: ({ name }) => `assets/${name.replace(/~.*/, '')}-[hash].js`,
        // A slow machine takes longer for many small files: what every page is made of is one, and what several pages share another.
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 12 },
            // Its tick is also that of a list of choices, which no page waits for.
            // Where there is room for both, they are shown at once.
            { name: 'approvals', test: /src\/pages\/approvals\/(Approvals|Detail)\.tsx/ },
            { name: 'checkbox', test: /@mantine\/core\/esm\/components\/Checkbox\// },
            { name: 'opened', test: OPENED },
            // All operations are named only where one is chosen.
            { name: 'operations', test: /src\/api\/operations\.gen/ },
            { name: 'some', minShareCount: 3, entriesAware: true, entriesAwareMergeThreshold: 30_000 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': proxied, '/v1': proxied } },
});
