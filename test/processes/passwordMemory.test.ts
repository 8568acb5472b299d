import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { signIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ownDatabase } from '../support/postgres/database.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';

const MiB = 2 ** 20;
const CONTAINER = 512;

/** A machine of six cores, and a container; at its end the process prints its peak memory in KiB. */
const SURROUNDINGS = `
import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
os.availableParallelism = () => 6;
process.constrainedMemory = () => ${CONTAINER * MiB};
syncBuiltinESMExports();
if (isMainThread) process.on('exit', () => console.log('most memory: ' + process.resourceUsage().maxRSS));`;

/** A hash with Django's defaults of argon2: 100 MiB for each check. */
const DJANGO = `$argon2id$v=19$m=102400,t=2,p=8$ZDBmWjRlSk9PRHIxbFZKMnNRTkJSZQ$fURBxqtVyMFIfJutmPQPPBnFz0HJ9Sj9kng3Z8xRB2U`;

it('a server in a container stays within its memory while one hash needs much of it to check', async () => {
  const { pool, url } = await ownDatabase();
  await pool.query(
    `insert into users (login, login_key, name, password_hash) values ('anna', 'anna', 'Anna', $1)`,
    [DJANGO],
  );
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(SURROUNDINGS)}`;
  const server = await spawnServer({ ...onDatabase(url), NODE_OPTIONS });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      signIn(new Agent(server.baseUrl), `nobody-${randomUUID()}`, 'a wrong one'),
    ),
  );
  for (const { status } of answers) expect([422, 303, 503]).toContain(status);
  await server.stop();
  const [, peak] = /most memory: (\d+)/.exec(server.output()) ?? [];
  expect((Number(peak) * 1024) / MiB).toBeLessThan(0.75 * CONTAINER);
});
