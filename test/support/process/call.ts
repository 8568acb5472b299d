import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { main } from '../../../src/cli/main.ts';
import type { Run } from './process.ts';

/** Runs `assent …` in this process; all but `serve` can be. @param env all that it sees of an environment */
export async function callAssent(
  args: readonly string[],
  env: Record<string, string>,
  stdin = '',
): Promise<Run> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await main(args, { stdin: Readable.from([stdin]), stdout, stderr, env });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}
