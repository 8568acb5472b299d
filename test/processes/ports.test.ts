import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { callAt } from '../support/admin.ts';
import { createRole, useDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';

const database = await useDatabase();
const variables = onDatabase(database.url);
const { json } = commandsOn(variables);
const METRICS_TOKEN = 'read-by-prometheus-0123456789-abcdef';

it('operators’ API and metrics work with the servers’ database role, at their own ports only', async () => {
  const role = await createRole();
  await json(`migrate --server-role ${role.name}`);
  const [ADMIN_PORT, METRICS_PORT] = [String(await freePort()), String(await freePort())];
  const METRICS_TOKEN_FILE = fileIn(useFolder(onTestFinished), 'token', `${METRICS_TOKEN}\n`);
  const ports = { ADMIN_PORT, METRICS_PORT, METRICS_TOKEN_FILE };
  const server = await spawnServer({ ...onDatabase(role.urlOf(database)), ...ports });
  const get = (address: string, token?: string) =>
    fetch(address, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

  const { operator_token: token = '' } = await json('operator create pipeline --role changes');
  const admin = `http://localhost:${ADMIN_PORT}`;
  const listed = () => get(`${admin}/v1/clients`, token).catch(() => null);
  await expect.poll(listed, { interval: 50 }).toMatchObject({ status: 200 });
  const shop = { name: 'Shop', redirect_uri: 'https://shop.example/' };
  const { status, body } = await callAt(admin, 'POST /v1/clients', shop, token);
  expect([status, body]).toEqual([201, expect.objectContaining(shop)]);
  expect(await json(`client show ${body.client_id}`)).toMatchObject(shop);

  const metrics = `http://localhost:${METRICS_PORT}`;
  const told = async () => (await get(`${metrics}/metrics`, METRICS_TOKEN)).text();
  await expect.poll(told, { interval: 50 }).toMatch(/^assent_audit_months_ahead 12$/m);
  expect(await told()).toMatch(/^assent_schema_version \d+$/m);
  expect((await get(`${metrics}/metrics`)).status).toBe(401);

  await callAt(admin, 'GET /v1/clients', undefined, 'not-a-token');
  await expect.poll(told).toMatch(/^assent_operator_failures_total\{status="401"\} 1$/m);

  for (const path of ['/v1/clients', '/v1/operators', '/metrics'])
    expect((await get(server.baseUrl + path, token)).status).toBe(404);
  for (const own of [admin, metrics]) expect((await get(`${own}/oauth/account`, token)).status).toBe(404);
  expect(await server.stop()).toBe(0);
  for (const own of [admin, metrics]) await expect(get(`${own}/metrics`)).rejects.toThrow();
});

it('the log warns of operators’ API beyond this machine, which has no TLS', async () => {
  const ADMIN_PORT = String(await freePort());
  for (const [ADMIN_HOST, warnings] of [
    ['0.0.0.0', 1],
    ['127.0.0.1', 0],
  ] as const) {
    const server = await spawnServer({ ...variables, ADMIN_PORT, ADMIN_HOST });
    await server.stop();
    const warned = server.output().match(/"level":"warn".+ADMIN_HOST .+ no TLS/g) ?? [];
    expect([ADMIN_HOST, warned.length]).toEqual([ADMIN_HOST, warnings]);
  }
});

it.each(['ADMIN_PORT', 'METRICS_PORT'])('%s is refused if it is in use, with a remedy', async (name) => {
  const first = await spawnServer(variables);
  const own = { BASE_URL: 'http://localhost:1', PORT: String(await freePort()) };
  const taken = { [name]: new URL(first.baseUrl).port };
  const run = await runAssent(['serve'], { ...variables, ...own, ...taken });
  await first.stop();
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining(`choose another with ${name}`)]);
});

it('without ADMIN_PORT nothing of the operators’ API and pages is loaded', async () => {
  const loadedBy = async (ADMIN_PORT: string) => {
    const NODE_V8_COVERAGE = useFolder(onTestFinished); // its files name each module that was loaded
    const server = await spawnServer({ ...variables, ADMIN_PORT, NODE_V8_COVERAGE });
    const isUp = () => fetch(`http://localhost:${ADMIN_PORT}/support`).catch(() => null);
    if (ADMIN_PORT !== '') await expect.poll(isUp).toMatchObject({ status: 200 });
    await server.stop();
    const texts = readdirSync(NODE_V8_COVERAGE).map((file) =>
      readFileSync(`${NODE_V8_COVERAGE}/${file}`, 'utf8'),
    );
    return new Set(texts.join('').match(/dist\/admin\/[\w/]+\.js/g));
  };
  const wanted = await loadedBy(String(await freePort()));
  expect([...wanted]).toEqual(
    expect.arrayContaining(['dist/admin/server.js', 'dist/admin/support/pages.js']),
  );
  expect(await loadedBy('')).toEqual(new Set());
});
