import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Agent } from '../support/agent.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { decide, introspect, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { Launch } from '../support/launch.ts';
import { newSecret } from '../support/ledger.ts';
import { withClient } from '../support/postgres.ts';
import { buildOf, lastCommitOf, oldestServed, type PreviousBuild } from '../support/previousBuild.ts';
import { onDatabase, runAssent } from '../support/process.ts';
import { freePort, type TestClient, type TestUser } from '../support/server.ts';
import { basic } from '../support/tokenRequests.ts';
import { noteShown } from '../support/traffic.ts';

// An upgrade while the build before it serves: its server goes on, on the schema that this build migrates to.

const version = oldestServed();
const commit = lastCommitOf(version);
if (commit === undefined)
  console.log(
    `Not tested: a build of schema version ${version}, which this checkout's history does not have.`,
  );

describe.runIf(commit !== undefined)(`a build of schema version ${version}`, () => {
  let previous: PreviousBuild;
  let database: TestDatabase;
  let server: Launch;
  let baseUrl: string;
  let [client, user, resource] = [{} as TestClient, {} as TestUser, ''];

  beforeAll(async () => {
    previous = buildOf(commit ?? '', version);
    database = await createDatabase(`template template0 encoding 'UTF8' locale 'C'`);
    register();
    const port = await freePort();
    baseUrl = `http://localhost:${port}`;
    const variables = { ...onDatabase(database.url), PORT: String(port), BASE_URL: baseUrl };
    server = new Launch([...previous.command, 'serve'], variables);
    const ready = async () => (await fetch(`${baseUrl}/health/ready`).catch(() => undefined))?.status;
    await vi.waitUntil(async () => (await ready()) === 200, { timeout: 60_000 });
  });

  afterAll(async () => {
    server?.kill('SIGTERM');
    await server?.end;
    previous?.remove();
    await database?.drop();
  });

  /** Runs a command of the previous build. @returns its JSON document */
  function earlier(args: readonly string[], input = ''): Record<string, string> {
    const [program = '', ...first] = previous.command;
    const env = { PATH: process.env.PATH, ...onDatabase(database.url) };
    const run = spawnSync(program, [...first, ...args, '--json'], { env, input, encoding: 'utf8' });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    noteShown(run.stdout);
    return JSON.parse(run.stdout);
  }

  function register(): void {
    const redirectUri = 'https://shop.example/callback';
    const shop = ['client', 'create', '--name', 'Shop', '--redirect-uri', redirectUri, '--verified'];
    const { client_id: clientId = '', client_secret: clientSecret = '' } = earlier(shop);
    client = { clientId, clientSecret, redirectUri };
    const secrets = { password: newSecret(), paymentPassword: newSecret() };
    const passwords = `${secrets.password}\n${secrets.paymentPassword}\n`;
    const anna = ['user', 'create', 'anna', '--name', 'Anna', '--password-stdin'];
    const { user_id: userId = '' } = earlier(anna, passwords);
    user = { userId, login: 'anna', ...secrets };
    const api = earlier(['resource', 'create', '--name', 'API']);
    resource = basic(api.resource_id ?? '', api.resource_secret ?? '').authorization ?? '';
  }

  /** What people and programs do with it: pages, decisions, tokens. */
  async function everything(instance: string): Promise<void> {
    const agent = new Agent(baseUrl);
    const fields = { instance_name: instance, scope: 'account-info payment-p2p.limit(1,100)' };
    const token = await obtainToken(agent, client, user, fields);
    expect(await introspect({ baseUrl }, resource, token)).toMatchObject({ active: true });
    const page = await reachConsent(agent, requestOf(client, { instance_name: instance }), user);
    expect((await decide(agent, page, 'reject')).location).toContain('error=access_denied');
    for (const path of ['/account', '/account/history', '/account/security'])
      expect({ path, status: (await agent.get(path)).status }).toEqual({ path, status: 200 });
    const mine = { client_id: client.clientId, client_secret: client.clientSecret ?? '', token };
    expect((await agent.post('/oauth/revoke', mine)).status).toBe(200);
    expect(await introspect({ baseUrl }, resource, token)).toEqual({ active: false });
  }

  it('serves without a fault before, while and after this build migrates its database', async () => {
    await everything('before');
    let migrated = false;
    const meanwhile = (async () => {
      for (let turn = 0; !migrated; turn += 1) await everything(`while ${turn}`);
    })();
    const { code, stdout, stderr } = await runAssent(['migrate', '--json'], onDatabase(database.url));
    migrated = true;
    await meanwhile;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(JSON.parse(stdout).version).toBeGreaterThan(version);
    await everything('after');
    expect(server.output()).not.toMatch(/"level":"(error|fatal)"/);
  });

  it('has no statement that does not fit the schema of this one', async () => {
    const statements = previous.statements();
    expect(statements.length).toBeGreaterThan(50);
    await withClient(database.url, async (connection) => {
      for (const [index, text] of statements.entries())
        await connection.query(`prepare previous_${index} as ${text}`);
    });
  });
});
