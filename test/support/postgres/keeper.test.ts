import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { withClient } from './postgres.ts';

/** A run: its end, however it comes, closes the standard input of its keeper. */
async function startRun(run: string) {
  const keeper = fileURLToPath(new URL('keeper.mjs', import.meta.url));
  const env = { TEST_DATABASE_URL: inject('postgres') };
  const { stdin, stdout } = spawn(process.execPath, [keeper, run], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(stdout, 'data');
  return stdin;
}

async function namesOf(client: Client, run: string): Promise<string[]> {
  const list = `select name from (select datname from pg_database union all select rolname from pg_roles) every (name)
                 where starts_with(name, $1)`;
  return (await client.query<{ name: string }>(list, [run])).rows.map(({ name }) => name);
}

it('the keeper drops databases and roles of a killed run and of one a day old, and no others', async () => {
  const now = Math.floor(Date.now() / 1000);
  const nameOf = (time: number) => `assent_test_${time}_${randomBytes(3).toString('hex')}`;
  const [killed, old, other] = [nameOf(now), nameOf(now - 90_000), nameOf(now - 80_000)];
  const similar = `assent_test_${now - 90_000}_mine_${randomBytes(3).toString('hex')}`;
  await withClient(inject('postgres'), async (client) => {
    const run = await startRun(killed);
    await client.query(`create database ${killed}_template allow_connections false`);
    for (const name of [`${killed}_1`, `${old}_template`]) await client.query(`create database ${name}`);
    for (const name of [`${killed}_2`, `${old}_1`, `${other}_1`, similar])
      await client.query(`create role ${name}`);
    await client.query(`create role ${killed}_3 in role ${killed}_2`);
    try {
      run.destroy();
      await expect.poll(() => namesOf(client, killed)).toEqual([]);
      expect(await namesOf(client, old)).toEqual([]);
      expect(await namesOf(client, other)).toEqual([`${other}_1`]);
      expect(await namesOf(client, similar)).toEqual([similar]);
    } finally {
      await client.query(`drop role ${other}_1, ${similar}`);
    }
  });
});
