import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { waitForLocks } from '../support/postgres/locks.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { startNotifier } from '../support/process/notifier.ts';
import { onDatabase } from '../support/process/process.ts';
import { openReceivers } from '../support/receivers.ts';
import { useServer } from '../support/server.ts';

// The order in which `assent notify` tells events, and that it tells each once, as long as no process is killed.

const server = await useServer();
const folder = useFolder();
const receivers = await openReceivers(folder);
afterAll(() => receivers.close());
const { pool } = server.database;
const variables = {
  ...onDatabase(server.database.url),
  BASE_URL: server.baseUrl,
  NODE_EXTRA_CA_CERTS: receivers.certificate,
};
const { json } = commandsOn(variables);
const agent = new Agent(server.baseUrl);

async function applicationAt(path: string) {
  const client = await server.createClient();
  await json(`client update ${client.clientId} --events-uri ${receivers.uriOf(path)} --events-internal`);
  return client;
}

const users = () => server.createUser({ paymentPassword: null });
const revoke = (token: string) => agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });

/** Starts it, and waits for its first cursor: it tells what happens afterwards. */
async function notify() {
  await startNotifier(variables);
  const cursor = () => pool.query(`select from notify_cursors where endpoint = 'trail'`);
  await expect.poll(async () => (await cursor()).rowCount).toBe(1);
}

it('an application is told the events of one authorization in their order, also of transactions with 500 others', async () => {
  await notify();
  const client = await applicationAt('/order');
  const user = await users();
  const rows = Array.from({ length: 500 }, (_, n) => ({
    ...{ login: user.login, client_id: client.clientId, instance_name: `${n}`, scope: 'account-info' },
    ...{ token: randomUUID(), issued_at: new Date().toISOString() },
  }));
  const file = fileIn(folder, 'tokens', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await json(`grant import ${file}`);
  // `grant revoke` locks them by their ids, in one transaction.
  const { rows: grants } = await pool.query(
    'select grant_id, instance_name from grants where client_id = $1 order by grant_id',
    [client.clientId],
  );
  const [second, last] = [grants[1], grants[499]];
  const browser = new Agent(server.baseUrl);
  await obtainToken(browser, await server.createClient(), user); // signs in

  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query('select from grants where grant_id = $1 for update', [second.grant_id]);
  const revoking = json(`grant revoke --client ${client.clientId} --yes`);
  await waitForLocks(pool, 1); // it has its transaction id, and the first grant
  await obtainToken(browser, client, user, { instance_name: last.instance_name }); // has a later id
  await holder.query('rollback');
  holder.release();
  expect(await revoking).toMatchObject({ revoked: 500 });

  const told = () => receivers.acceptedAt('/order').filter(({ data }) => data.grant_id === last.grant_id);
  await expect.poll(() => told().length).toBe(2);
  expect(told().map(({ data }) => data.reason)).toEqual(['replaced', 'operator']);
});

it('a receiver that has caught up is told nothing twice', async () => {
  const [behind, slow] = [await applicationAt('/behind'), await applicationAt('/slow')];
  const user = await users();
  const one = await obtainToken(agent, behind, user, { instance_name: 'one' });
  const two = await obtainToken(agent, behind, user, { instance_name: 'two' });
  const other = await obtainToken(agent, slow, user);
  let isDown = true;
  receivers.answer('/behind', () => (isDown ? 503 : 204));
  // While the slow one is waited for, after the trail was read for all, the other gets an event and is up again.
  receivers.answer('/slow', async () => {
    await revoke(two);
    isDown = false;
    await sleep(1_000);
    return 204;
  });
  await notify();
  await revoke(one);
  const count = async (where: string) =>
    (await pool.query(`select from notify_cursors where ${where}`)).rowCount;
  await expect.poll(() => count('failures > 0')).toBe(1);
  const retry = `update notify_cursors set next_try_at = now() where endpoint <> 'trail'`;
  const hurrying = setInterval(() => pool.query(retry).catch(() => {}), 50);
  onTestFinished(() => clearInterval(hurrying));
  await revoke(other);
  await expect.poll(() => count('true')).toBe(1);

  await revoke(await obtainToken(agent, behind, user, { instance_name: 'three' }));
  const accepted = () =>
    receivers.deliveries.filter(({ path, status }) => path === '/behind' && status === 204);
  const names = () => accepted().map(({ body }) => JSON.parse(body).data.instance_name);
  await expect.poll(() => names().at(-1)).toBe('three');
  expect(names()).toEqual(['one', 'two', 'three']);
});
