#!/usr/bin/env node
import { refuseNode } from '../dist/nodeVersion.js';

const refusal = refuseNode(process.versions);
if (refusal === null) await import('../dist/cli.js');
else {
  console.error(refusal);
  process.exitCode = 1;
}
