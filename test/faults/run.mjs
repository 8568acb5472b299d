import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// npm run faults -- [--seed TEXT] [--fault NAME]… [--minutes N]

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    fault: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '8' },
  },
});

const journal = join(mkdtempSync(join(tmpdir(), 'assent-faults-')), 'journal.jsonl');
console.log(`seed ${values.seed}, journal ${journal}`);
const env = {
  ...process.env,
  FAULTS_SEED: values.seed,
  FAULTS_MINUTES: values.minutes,
  FAULTS_JOURNAL: journal,
  ...(values.fault === undefined ? {} : { FAULTS_NAMES: values.fault.join(',') }),
};
const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/faults/vitest.config.ts'];
const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
