import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listMigrations } from '../../src/store/schema/schemaState.ts';
import { decide, introspect, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { basic } from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { createDatabase, type TestDatabase } from '../support/postgres/database.ts';
import { withClient } from '../support/postgres/postgres.ts';
import {
  type Build,
  buildOf,
  copyOfBuild,
  git,
  lastCommitOf,
  oldestServed,
} from '../support/process/builds.ts';
import { onDatabase, type ServerProcess, spawnAssent, spawnServer } from '../support/process/process.ts';
import type { TestClient, TestUser } from '../support/server.ts';
import { noteShown } from '../support/traffic.ts';

// An upgrade while the earlier build serves: its server continues on the schema that the later build migrates to. Until there
// is a second migration, this build is the earlier one, and the later one has a migration of this test.

const version = oldestServed();
const isFirst = version === (await listMigrations()).length;
const MADE =
  'alter table clients add column made integer not null default 1; create index on grants (revoked_at)';
const commit = isFirst ? undefined : lastCommitOf(version);
const canTest = isFirst || commit !== undefined;
if (!canTest) console.log(`Not tested: a build of schema version ${version}, which is not in the history.`);

describe.runIf(canTest)(`a build of schema version ${version}`, () => {
  let [earlier, later] = [{} as Build, {} as Build];
  let database: TestDatabase;
  let server: ServerProcess;
  let [client, user, resource] = [{} as TestClient, {} as TestUser, ''];

  beforeAll(async () => {
    earlier = commit === undefined ? copyOfBuild() : buildOf(commit);
    later = copyOfBuild(commit === undefined ? MADE : undefined);
    database = await createDatabase(`template template0 encoding 'UTF8' locale 'C'`);
    await register();
    server = await spawnServer(onDatabase(database.url), 'ready', earlier.executable);
  });

  afterAll(async () => {
    await server?.stop();
    earlier.remove();
    later.remove();
    await database?.drop();
  });

  async function run({ executable }: Build, line: string, input = '') {
    const done = await spawnAssent(
      [...line.split(' '), '--json'],
      onDatabase(database.url),
      input,
      executable,
    );
    expect(done).toMatchObject({ code: 0 });
    noteShown(done.stdout);
    return JSON.parse(done.stdout);
  }

  async function register(): Promise<void> {
    const redirectUri = 'https://shop.example/callback';
    const shop = `client create --name Shop --redirect-uri ${redirectUri} --verified`;
    const { client_id: clientId, client_secret: clientSecret } = await run(earlier, shop);
    client = { clientId, clientSecret, redirectUri };
    const secrets = { password: newSecret(), paymentPassword: newSecret() };
    const passwords = `${secrets.password}\n${secrets.paymentPassword}\n`;
    const { user_id: userId } = await run(
      earlier,
      'user create anna --name Anna --password-stdin',
      passwords,
    );
    user = { userId, login: 'anna', ...secrets };
    const api = await run(earlier, 'resource create --name API');
    resource = basic(api.resource_id, api.resource_secret).authorization ?? '';
  }

  async function everything(instance: string): Promise<void> {
    const agent = new Agent(server.baseUrl);
    const fields = { instance_name: instance, scope: 'account-info payment-p2p.limit(1,100)' };
    const token = await obtainToken(agent, client, user, fields);
    expect(await introspect(server, resource, token)).toMatchObject({ active: true });
    const page = await reachConsent(agent, requestOf(client, { instance_name: instance }), user);
    expect((await decide(agent, page, 'reject')).location).toContain('error=access_denied');
    for (const path of ['/oauth/account', '/oauth/account/history', '/oauth/account/security'])
      expect({ path, status: (await agent.get(path)).status }).toEqual({ path, status: 200 });
    const mine = { client_id: client.clientId, client_secret: client.clientSecret ?? '', token };
    expect((await agent.post('/oauth/revoke', mine)).status).toBe(200);
    expect(await introspect(server, resource, token)).toEqual({ active: false });
  }

  it('serves without an error before, during and after the later build migrates its database', async () => {
    await everything('before');
    let migrated = false;
    const meanwhile = (async () => {
      for (let turn = 0; !migrated; turn += 1) await everything(`while ${turn}`);
    })();
    const migration = await run(later, 'migrate');
    migrated = true;
    await meanwhile;
    expect(migration.version).toBeGreaterThan(version);
    await everything('after');
    expect(server.output()).not.toMatch(/"level":"(error|fatal)"/);
  });

  it('has only SQL statements that fit the later schema', async () => {
    const recorded = 'test/store/statements.sql'; // which a test compares with the code
    const file = commit === undefined ? readFileSync(recorded, 'utf8') : git('show', `${commit}:${recorded}`);
    const statements = file.split(/^-- .+\n/m).slice(1);
    expect(statements.length).toBeGreaterThan(50);
    await withClient(database.url, async (connection) => {
      for (const [index, text] of statements.entries())
        await connection.query(`prepare previous_${index} as ${text}`);
    });
  });
});
