import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRole, useDatabase } from '../support/database.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process.ts';
import { freePort } from '../support/server.ts';

const database = await useDatabase();
const TOKEN = 'read-by-prometheus-0123456789-abcdef';

const ask = async (address: string, headers = {}) => {
  const answer = await fetch(address, { headers });
  return { status: answer.status, body: await answer.text() };
};

describe('METRICS_PORT', () => {
  it('has the metrics, and the public port has them no more; a server’s own role may read all of them', async () => {
    const role = await createRole();
    const migrated = await runAssent(['migrate', '--server-role', role.name], onDatabase(database.url));
    expect(migrated.code).toBe(0);
    const port = await freePort();
    const server = await spawnServer({ ...onDatabase(role.urlOf(database)), METRICS_PORT: String(port) });
    const metrics = `http://localhost:${port}/metrics`;
    const told = async () => (await ask(metrics)).body;
    await expect.poll(told, { interval: 50 }).toMatch(/^assent_audit_months_ahead 12$/m);
    expect(await told()).toMatch(/^assent_schema_version \d+$/m);
    expect((await ask(`${server.baseUrl}/metrics`)).status).toBe(404);
    expect((await ask(`http://localhost:${port}/account`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
    await expect(ask(metrics)).rejects.toThrow();
  });

  it('asks for METRICS_TOKEN, which may be in a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-metrics-'));
    const [port, METRICS_TOKEN_FILE] = [await freePort(), join(folder, 'token')];
    writeFileSync(METRICS_TOKEN_FILE, `${TOKEN}\n`);
    const server = await spawnServer({
      ...onDatabase(database.url),
      METRICS_PORT: String(port),
      METRICS_TOKEN_FILE,
    });
    const metrics = `http://localhost:${port}/metrics`;
    expect((await ask(metrics)).status).toBe(401);
    expect((await ask(metrics, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('is refused where it is taken, with what to do', async () => {
    const first = await spawnServer(onDatabase(database.url));
    const METRICS_PORT = new URL(first.baseUrl).port;
    const run = await runAssent(['serve'], {
      ...onDatabase(database.url),
      BASE_URL: 'http://localhost:1',
      PORT: String(await freePort()),
      METRICS_PORT,
    });
    await first.stop();
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('choose another with METRICS_PORT')]);
  });
});
