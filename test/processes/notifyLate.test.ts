import { afterAll, expect, it } from 'vitest';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { commandsOn } from '../support/process/commands.ts';
import { useFolder } from '../support/process/folder.ts';
import { startNotifier } from '../support/process/notifier.ts';
import { onDatabase } from '../support/process/process.ts';
import { openReceivers } from '../support/receivers.ts';
import { useServer } from '../support/server.ts';

// A stopped `assent notify`, and an open transaction, are said; a restored database needs no manual step.

const server = await useServer();
const receivers = await openReceivers(useFolder());
afterAll(() => receivers.close());
const variables = {
  ...onDatabase(server.database.url),
  BASE_URL: server.baseUrl,
  NODE_EXTRA_CA_CERTS: receivers.certificate,
};
const { assent, json } = commandsOn(variables);
const { pool } = server.database;

const startNotify = () => startNotifier(variables);

/** An application with one authorization after the other. */
async function endingApplication(path: string) {
  const client = await server.createClient();
  await json(`client update ${client.clientId} --events-uri ${receivers.uriOf(path)} --events-internal`);
  const user = await server.createUser({ paymentPassword: null });
  return async (instance_name: string) => {
    const agent = new Agent(server.baseUrl);
    const token = await obtainToken(agent, client, user, { instance_name });
    await agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
  };
}

const namesAt = (path: string) => receivers.acceptedAt(path).map(({ data }) => data.instance_name);

/** As if the shared cursor had been made earlier. */
const makeOlder = (seconds: number) =>
  pool.query(
    `update notify_cursors set cursor = concat_ws('.', split_part(cursor, '.', 1), split_part(cursor, '.', 2)::bigint - $1::bigint,
       split_part(cursor, '.', 3)::bigint - $1::bigint, split_part(cursor, '.', 4), split_part(cursor, '.', 5))
      where endpoint = 'trail'`,
    [seconds * 1_000_000],
  );

it('doctor says that assent notify does not run, and not that it runs', async () => {
  const notifier = await startNotify();
  await expect
    .poll(async () => (await pool.query('select from notify_cursors')).rowCount, { timeout: 20_000 })
    .toBe(1);
  expect((await assent('doctor')).stdout).not.toContain('assent notify has not run');
  await notifier.stop();
  await makeOlder(600);
  expect((await assent('doctor')).stdout).toContain('assent notify has not run for 10 minutes');
  await startNotify();
  await expect
    .poll(async () => (await assent('doctor')).stdout, { timeout: 60_000 })
    .not.toMatch(/notify has not run|open transaction/);
});

it('an open transaction holds back webhooks, which the log and doctor say; none is lost', async () => {
  const end = await endingApplication('/held');
  const { log } = await startNotify();
  const connection = await pool.connect();
  try {
    await connection.query('begin');
    await connection.query('select pg_current_xact_id()');
    await end('one');
    await end('two');
    await expect
      .poll(() => makeOlder(600).then(log), { timeout: 20_000, interval: 1_000 })
      .toContain('an open transaction holds back webhooks');
    // An older cursor says that the notifier has stopped, until it looks again.
    await expect
      .poll(async () => (await assent('doctor')).stdout, { timeout: 20_000 })
      .toMatch(/an open transaction holds back webhooks for \d+ minutes/);
    expect(namesAt('/held')).toEqual([]);
  } finally {
    await connection.query('rollback');
    connection.release();
  }
  await expect.poll(() => namesAt('/held'), { timeout: 20_000 }).toEqual(['one', 'two']);
});

it.each(['99999999999999.$2.$3.99999999999999.$5', '$1.$2.$3.$4.1'])(
  'after a restore into another database, a cursor such as %s begins again at its time',
  async (cursor) => {
    const path = `/restored-${cursor.length}`;
    const end = await endingApplication(path);
    const before = await startNotify();
    await end('before');
    await expect.poll(() => namesAt(path), { timeout: 20_000 }).toEqual(['before']);
    await before.stop();
    await end('after');
    await pool.query(
      `update notify_cursors set cursor = regexp_replace(cursor, '^(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)$', $1)`,
      [cursor.replaceAll('$', '\\')],
    );
    const { log } = await startNotify();
    await expect.poll(() => namesAt(path), { timeout: 20_000 }).toEqual(['before', 'after']);
    expect(log()).toContain('the database was restored');
    await end('later');
    await expect.poll(() => namesAt(path), { timeout: 20_000 }).toEqual(['before', 'after', 'later']);
  },
);
