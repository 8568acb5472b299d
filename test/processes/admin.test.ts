import { describe, expect, it } from 'vitest';
import { callAt } from '../support/admin.ts';
import { createRole, useDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';

const database = await useDatabase();
const { json } = commandsOn(onDatabase(database.url));

describe('ADMIN_PORT', () => {
  it('serves the operators’ API as the servers’ role, and the public port does not', async () => {
    const role = await createRole();
    const migrated = await runAssent(['migrate', '--server-role', role.name], onDatabase(database.url));
    expect(migrated.code).toBe(0);
    const port = await freePort();
    const server = await spawnServer({ ...onDatabase(role.urlOf(database)), ADMIN_PORT: String(port) });
    const { operator_token: token = '' } = await json('operator create pipeline --role changes');
    const url = `http://localhost:${port}`;
    const shop = { name: 'Shop', redirect_uri: 'https://shop.example/' };
    const ask = (what: string, body?: object) => callAt(url, what, body, token);
    await expect
      .poll(() => ask('GET /v1/clients').catch(() => null), { interval: 50 })
      .toMatchObject({ status: 200 });
    const { status, body } = await ask('POST /v1/clients', shop);
    expect([status, body]).toEqual([201, expect.objectContaining(shop)]);
    expect(await json(`client show ${body.client_id}`)).toMatchObject(shop);
    for (const address of [`${server.baseUrl}/v1/clients`, `${server.baseUrl}/v1/operators`])
      expect((await fetch(address, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
    expect((await ask('GET /account')).status).toBe(404);
    expect(await server.stop()).toBe(0);
    await expect(ask('GET /v1/clients')).rejects.toThrow();
  });
});

it.each(['ADMIN_PORT', 'METRICS_PORT'])('%s is refused if it is in use, with a remedy', async (name) => {
  const first = await spawnServer(onDatabase(database.url));
  const own = { BASE_URL: 'http://localhost:1', PORT: String(await freePort()) };
  const taken = { [name]: new URL(first.baseUrl).port };
  const run = await runAssent(['serve'], { ...onDatabase(database.url), ...own, ...taken });
  await first.stop();
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining(`choose another with ${name}`)]);
});
