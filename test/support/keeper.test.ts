import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { withClient } from './postgres.ts';

/** Makes what test runs make, says so and goes on. */
const RUN = `
import { spawn } from 'node:child_process';
import pg from 'pg';
const [, keeper, run] = process.argv;
const { stdout } = spawn(process.execPath, [keeper, run], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
stdout.once('data', async () => {
  const client = new pg.Client(process.env.TEST_DATABASE_URL);
  await client.connect();
  await client.query('create database ' + run + '_template allow_connections false');
  await client.query('create database ' + run + '_1');
  await client.query('create role ' + run + '_2');
  await client.query('create role ' + run + '_3 in role ' + run + '_2');
  console.log('made');
});`;

async function namesOf(client: Client, run: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from (select datname from pg_database union all select rolname from pg_roles) every (name)
      where starts_with(name, $1)`,
    [run],
  );
  return rows.map(({ name }) => name);
}

/** @returns the process, when it has made everything */
async function startRun(run: string): Promise<ChildProcess> {
  const keeper = fileURLToPath(new URL('keeper.mjs', import.meta.url));
  const env = { PATH: process.env.PATH, TEST_DATABASE_URL: inject('postgres') };
  const args = ['--input-type=module', '--eval', RUN, keeper, run];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

it('leaves nothing of a run that was killed, nor of one a day ago, and touches nothing else', async () => {
  const now = Math.floor(Date.now() / 1000);
  const nameOf = (time: number) => `assent_test_${time}_${randomBytes(3).toString('hex')}`;
  const [killed, old, other] = [nameOf(now), nameOf(now - 90_000), nameOf(now - 80_000)];
  const similar = `assent_test_${now - 90_000}_mine_${randomBytes(3).toString('hex')}`;
  await withClient(inject('postgres'), async (client) => {
    await client.query(`create database ${old}_template`);
    for (const name of [`${old}_1`, `${other}_1`, similar]) await client.query(`create role ${name}`);
    try {
      const run = await startRun(killed);
      expect(await namesOf(client, killed)).toHaveLength(4);
      run.kill('SIGKILL');
      await expect.poll(() => namesOf(client, killed)).toEqual([]);
      expect(await namesOf(client, old)).toEqual([]);
      expect(await namesOf(client, other)).toEqual([`${other}_1`]);
      expect(await namesOf(client, similar)).toEqual([similar]);
    } finally {
      await client.query(`drop role ${other}_1, ${similar}`);
    }
  });
});
