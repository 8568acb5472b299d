import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

// npm run years -- [--seed TEXT[,TEXT…]] [--at-once N] [--months N] [--people N] [--begin MONTH] [--planted NAME]

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'at-once': { type: 'string', default: '2' },
    months: { type: 'string', default: '40' },
    people: { type: 'string', default: '2000' },
    begin: { type: 'string', default: '2026-12' },
    planted: { type: 'string' },
  },
});

const library = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;
if (!existsSync(library)) {
  console.error(`${library} is missing: install libfaketime (Debian: apt-get install libfaketime)`);
  process.exit(2);
}

/** Lives a life under a clock of its own. @returns {Promise<number>} its exit code */
function live(seed) {
  // PostgreSQL's user reads the clock, too.
  const folder = mkdtempSync(join(tmpdir(), 'assent-years-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'clock-all'), '+0');
  const env = {
    ...process.env,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: join(folder, 'clock-all'),
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    YEARS_SEED: seed,
    YEARS_MONTHS: values.months,
    YEARS_PEOPLE: values.people,
    YEARS_BEGIN: values.begin,
    YEARS_FOLDER: folder,
    YEARS_LIBRARY: library,
    ...(values.planted === undefined ? {} : { YEARS_PLANTED: values.planted }),
  };
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/years/vitest.config.ts'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on(
      'line',
      (line) => line !== '' && console.log(`seed ${seed} | ${line}`),
    );
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

if (values.planted === undefined)
  console.log(`${values.months} months from ${values.begin} on, ${values.people} people`);
const began = performance.now();
const left = values.seed.split(',');
const failed = [];
const next = async () => {
  for (let seed = left.shift(); seed !== undefined; seed = left.shift())
    if ((await live(seed)) !== 0) failed.push(seed);
};
await Promise.all(Array.from({ length: Number(values['at-once']) }, next));
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
const wanted = values.planted === undefined ? 'no findings' : 'what was planted is found';
console.log(`${minutes} minutes; ${failed.length === 0 ? wanted : `failed: seed ${failed.join(', ')}`}`);
process.exit(failed.length === 0 ? 0 : 1);
