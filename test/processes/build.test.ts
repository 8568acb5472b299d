import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKOUT, useFolder } from '../support/process/folder.ts';

const folder = useFolder();

for (const part of ['bin', 'scripts', 'package.json'])
  cpSync(join(CHECKOUT, part), join(folder, part), { recursive: true });

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('a checkout without a build', () => {
  it('prints the remedy in a sentence, in text and JSON', () => {
    const refused = run('bin/assent.js', 'serve');
    expect(refused).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Assent is not built yet: run npm ci, [^\n]+\n$/),
    });
    const { stderr } = run('bin/assent.js', 'user', 'list', '--json');
    expect(JSON.parse(stderr)).toEqual({ error: refused.stderr.trimEnd() });
  });

  it('is not built by npm ci --omit=dev, which prints how to build it', () => {
    expect(run('scripts/prepare.mjs')).toEqual({ status: 0, stdout: '', stderr: '' }); // nothing is there to compile
    mkdirSync(join(folder, 'src'));
    expect(run('scripts/prepare.mjs')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Assent is compiled by TypeScript, [^\n]+npm prune --omit=dev\.\n$/),
    });
  });
});
