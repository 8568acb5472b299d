import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeWith } from '../clients/examples.ts';
import { CHECKOUT, fileIn, useFolder } from '../support/process/folder.ts';

describeWith(['bash'], 'completion in bash', () => {
  const folder = useFolder();
  const calls = `${folder}/calls`;
  const assent = `#!/bin/sh\necho "$@" >> '${calls}'\nexec '${process.execPath}' '${CHECKOUT}/bin/assent.js' "$@"\n`;
  chmodSync(fileIn(folder, 'assent', assent), 0o755);

  function complete(...words: string[]): string[] {
    const script = `. '${CHECKOUT}/deploy/completion/assent.sh'
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

  it('runs assent only with --help, even after a destructive command was typed', () => {
    const typed = ['assent', 'grant', 'revoke', '--yes', '--client', 'x', '--', '--lo'];
    expect(complete(...typed)).toEqual(['--login']);
    expect(readFileSync(calls, 'utf8')).toMatch(/^(([a-z]+ )*--help\n)+$/);
  });
});
