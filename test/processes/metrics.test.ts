import { describe, expect, it, onTestFinished } from 'vitest';
import { createRole, useDatabase } from '../support/postgres/database.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';

const database = await useDatabase();
const TOKEN = 'read-by-prometheus-0123456789-abcdef';

const ask = async (address: string, headers = {}) => {
  const answer = await fetch(address, { headers });
  return { status: answer.status, body: await answer.text() };
};

describe('METRICS_PORT', () => {
  it('serves the metrics for METRICS_TOKEN as the servers’ role, and the public port does not', async () => {
    const role = await createRole();
    const migrated = await runAssent(['migrate', '--server-role', role.name], onDatabase(database.url));
    expect(migrated.code).toBe(0);
    const port = await freePort();
    const METRICS_TOKEN_FILE = fileIn(useFolder(onTestFinished), 'token', `${TOKEN}\n`);
    const variables = { METRICS_PORT: String(port), METRICS_TOKEN_FILE };
    const server = await spawnServer({ ...onDatabase(role.urlOf(database)), ...variables });
    const metrics = `http://localhost:${port}/metrics`;
    const told = async () => (await ask(metrics, { authorization: `Bearer ${TOKEN}` })).body;
    await expect.poll(told, { interval: 50 }).toMatch(/^assent_audit_months_ahead 12$/m);
    expect(await told()).toMatch(/^assent_schema_version \d+$/m);
    expect((await ask(metrics)).status).toBe(401);
    expect((await ask(`${server.baseUrl}/metrics`)).status).toBe(404);
    expect((await ask(`http://localhost:${port}/account`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
    await expect(ask(metrics)).rejects.toThrow();
  });
});
