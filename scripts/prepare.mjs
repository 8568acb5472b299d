import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

// The end of `npm ci`: compiles src into dist, and the demo into demo/dist.

const isThere = (path) => existsSync(new URL(`../${path}`, import.meta.url));

if (isThere('src') && !isThere('node_modules/typescript')) {
  console.error(
    'Assent is compiled by TypeScript, a development dependency. Run npm ci, which builds it, and then npm prune --omit=dev.',
  );
  process.exitCode = 1;
} else if (isThere('src')) {
  const { status } = spawnSync('npm run --silent build', { stdio: 'inherit', shell: true });
  process.exitCode = status ?? 1;
}
