// Fails when the committed client is not what the committed OpenAPI document makes: then run `npm run api`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const app = join(import.meta.dirname, '..');
const out = mkdtempSync(join(app, 'node_modules/.api-'));
const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).map((file) => relative(folder, join(file.parentPath, file.name))).sort();
try {
  execFileSync('npm', ['run', '--silent', 'api'], { cwd: app, env: { ...process.env, OK_API_OUT: relative(app, out) }, stdio: ['ignore', 'ignore', 'inherit'] });
  const [made, kept] = [files(out), files(join(app, 'src/api'))];
  const differing = [...new Set([...made, ...kept])].filter((file) => !made.includes(file) || !kept.includes(file) || readFileSync(join(out, file), 'utf8') !== readFileSync(join(app, 'src/api', file), 'utf8'));
  if (differing.length > 0) {
    process.stderr.write(`stale: ${differing.map((file) => `src/api/${file}`).join(', ')}\nrun \`npm run api\` in src/web/app and commit what it writes\n`);
    process.exitCode = 1;
  }
} finally {
  rmSync(out, { recursive: true });
}
