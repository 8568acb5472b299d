import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
const hasBash = spawnSync('bash', ['--version']).status === 0;
const found = hasBash ? '' : ' (bash is not installed: skipped)';

describe.runIf(hasBash)(`completion in bash${found}`, () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'assent-completion-'));
    const command = join(folder, 'assent');
    writeFileSync(
      command,
      `#!/bin/sh\necho "$@" >> '${folder}/calls'\nexec '${process.execPath}' '${CHECKOUT}bin/assent.js' "$@"\n`,
    );
    chmodSync(command, 0o755);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  /** What Tab offers behind these words, the last of which is being typed. */
  function complete(...words: string[]): string[] {
    const script = `. '${CHECKOUT}deploy/completion/assent.sh'
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _assent; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], { env, encoding: 'utf8' });
    return stdout.trim().split('\n');
  }

  it('offers every command, its subcommands, and its options', () => {
    expect(complete('assent', '')).toEqual(
      expect.arrayContaining(['serve', 'migrate', 'client', 'user', 'token', 'config', 'doctor', '--json']),
    );
    expect(complete('assent', 'client', 'secret', '')).toEqual(
      expect.arrayContaining(['add', 'list', 'retire']),
    );
    expect(complete('assent', 'client', 'secret', 're')).toEqual(['retire']);
    expect(complete('assent', 'user', 'create', 'anna', '--na')).toEqual(['--name']);
  });

  it('runs only --help, whatever was typed before', () => {
    expect(complete('assent', 'grant', 'revoke', '--yes', '--client', 'x', '--', '--lo')).toEqual([
      '--login',
    ]);
    const calls = spawnSync('cat', [join(folder, 'calls')], { encoding: 'utf8' }).stdout;
    for (const call of calls.trim().split('\n')) expect(call).toMatch(/^([a-z]+ )*--help$/);
  });
});
