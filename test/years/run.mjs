import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// npm run years -- [--seed TEXT] [--months N] [--people N] [--planted NAME]

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    months: { type: 'string', default: '40' },
    people: { type: 'string', default: '2000' },
    planted: { type: 'string' },
  },
});

const library = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;
if (!existsSync(library)) {
  console.error(`${library} is missing: install libfaketime (Debian: apt-get install libfaketime)`);
  process.exit(2);
}
// PostgreSQL's user reads the clock, too.
const folder = mkdtempSync(join(tmpdir(), 'assent-years-'));
chmodSync(folder, 0o755);
writeFileSync(join(folder, 'clock-all'), '+0');
console.log(`seed ${values.seed}, ${values.months} months, ${values.people} people`);
const env = {
  ...process.env,
  LD_PRELOAD: library,
  FAKETIME_TIMESTAMP_FILE: join(folder, 'clock-all'),
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  YEARS_SEED: values.seed,
  YEARS_MONTHS: values.months,
  YEARS_PEOPLE: values.people,
  YEARS_FOLDER: folder,
  YEARS_LIBRARY: library,
  ...(values.planted === undefined ? {} : { YEARS_PLANTED: values.planted }),
};
const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/years/vitest.config.ts'];
const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
