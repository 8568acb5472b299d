import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// npm run faults -- [--seed TEXT] [--fault NAME]… [--minutes N], or --planted

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    fault: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '8' },
    planted: { type: 'boolean', default: false },
  },
});

const journal = join(mkdtempSync(join(tmpdir(), 'assent-faults-')), 'journal.jsonl');
console.log(`seed ${values.seed}, journal ${journal}`);
const env = {
  ...process.env,
  FAULTS_SEED: values.seed,
  FAULTS_MINUTES: values.minutes,
  FAULTS_JOURNAL: journal,
  ...(values.planted ? { FAULTS_PLANTED: 'all' } : {}),
  ...(values.fault === undefined ? {} : { FAULTS_NAMES: values.fault.join(',') }),
};
const tests = values.planted ? 'test/faults/planted.test.ts' : 'test/faults/long.ts';
const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/faults/vitest.config.ts', tests];
const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
