#!/usr/bin/env node
import { existsSync } from 'node:fs';

const refusal = await whyRefused();
if (refusal === null) {
  const { handleSignals } = await import('../dist/process/ending.js');
  handleSignals(); // before the rest is loaded: until then PID 1 would not notice a signal at all
  await import('../dist/cli.js');
} else {
  console.error(process.argv.includes('--json') ? JSON.stringify({ error: refusal }) : refusal);
  process.exitCode = 1;
}

/** Why nothing is run, as a sentence; null when all is well. */
async function whyRefused() {
  if (!existsSync(new URL('../dist/cli.js', import.meta.url)))
    return 'Assent is not built yet: run npm ci, and for a server npm prune --omit=dev after it';
  const { nodeVersionProblem } = await import('../dist/process/nodeVersion.js');
  return nodeVersionProblem(process.versions);
}
