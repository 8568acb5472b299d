#!/usr/bin/env node
import { handleSignals } from '../dist/ending.js';
import { refuseNode } from '../dist/nodeVersion.js';

const refusal = refuseNode(process.versions);
if (refusal === null) {
  handleSignals(); // before the rest is loaded: until then PID 1 would not notice a signal at all
  await import('../dist/cli.js');
} else {
  console.error(process.argv.includes('--json') ? JSON.stringify({ error: refusal }) : refusal);
  process.exitCode = 1;
}
