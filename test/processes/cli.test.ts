import { describe, expect, it } from 'vitest';
import { grantServerRole } from '../../src/store/schema/serverRole.ts';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ledger } from '../support/ledger.ts';
import { createRole, ownDatabase } from '../support/postgres/database.ts';
import { urlOf } from '../support/postgres/postgres.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, runAssent, spawnAssent, spawnServer } from '../support/process/process.ts';
import { freePort, TEST_SECRET, useServer } from '../support/server.ts';

const server = await useServer();
const variables = onDatabase(server.database.url);
const { assent, json } = commandsOn(variables);

it('a running server sees the changes of commands at once [cli-1]', async () => {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const { resource_id, resource_secret } = await json('resource create --name API');
  const resource = `Basic ${btoa(`${resource_id}:${resource_secret}`)}`;
  const token = await obtainToken(new Agent(server.baseUrl), client, user);
  const active = async () => (await introspect(server, resource, token)).active;
  expect(await active()).toBe(true);
  for (const whose of [`client %s ${client.clientId}`, `user %s ${user.login}`]) {
    await assent(whose.replace('%s', 'block'));
    expect(await active()).toBe(false);
    await assent(whose.replace('%s', 'unblock'));
    expect(await active()).toBe(true);
  }
  const grants = () => json<Record<string, string>[]>(`grant list --login ${user.login}`);
  const [{ grant_id, state } = {}] = await grants();
  expect([state, (await assent(`grant revoke ${grant_id}`)).code]).toEqual(['active', 0]);
  expect(await active()).toBe(false);
  expect(await grants()).toMatchObject([{ state: 'revoked' }]);
});

describe('the command line', () => {
  it('exits with 2 if it is wrong, and prints that on stderr', async () => {
    const said = { code: 2, stdout: '', stderr: expect.stringContaining('nothing') };
    expect(await spawnAssent(['nothing'], variables)).toEqual(said);
  });

  it('names every wrong variable on its own line, and prints no secret [cli-2]', async () => {
    const { code, stderr } = await runAssent(['serve'], {
      DATABASE_URL: 'mysql://x:hidden@y',
      PORT: '70000',
      SECRETS: 'hidden',
      CODE_LIFETIME_SECONDS: '60',
    });
    const lines = stderr.trim().split('\n');
    expect([code, ...lines.map((line) => line.split(' ')[0])]).toEqual([
      1,
      ...['BASE_URL', 'DATABASE_URL', 'PORT', 'SECRETS', 'CODE_LIFETIME_SECONDS'],
    ]);
    expect(stderr).not.toContain('hidden');
  });

  it('closes its database connections, also after an error', async () => {
    const { pool, url } = await ownDatabase();
    for (const line of ['client list', 'client show nothing', 'doctor'])
      await commandsOn(onDatabase(url)).assent(line);
    const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    const count = async () => (await pool.query(others)).rowCount;
    // An open pool closes its idle connections later.
    await expect.poll(count, { timeout: 5_000 }).toBe(0);
  });
});

describe('a server process', () => {
  it('prints only log lines, each with its own time', async () => {
    const started = Date.now();
    const spawned = await spawnServer({ ...variables, LOG_LEVEL: 'info' });
    await fetch(`${spawned.baseUrl}/oauth/authorize`);
    await spawned.stop();
    const lines = spawned.output().trimEnd().split('\n');
    // A warning of the engine, for example about a flag that it lacks, would not be JSON.
    const times = lines.map((line) => JSON.parse(line).time as string);
    expect(times).toEqual(times.map((time) => new Date(time).toISOString()).toSorted());
    expect(Date.parse(times.at(0) ?? '')).toBeGreaterThanOrEqual(started);
    expect(Date.parse(times.at(-1) ?? '')).toBeLessThanOrEqual(Date.now());
    expect(new Set(times).size).toBeGreaterThan(1);
  });

  it('warns at its start if BASE_URL is plain http, except on localhost', async () => {
    const warningsOf = async (more: Record<string, string>) => {
      const spawned = await spawnServer({ ...variables, ...more });
      await spawned.stop();
      const lines = spawned.output().trimEnd().split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line)).map(({ level, msg }) => ({ level, msg }));
    };
    expect(await warningsOf({})).toEqual([]);
    const msg = 'BASE_URL http://pay.example is plain http: passwords, codes and tokens travel unencrypted.';
    expect(await warningsOf({ BASE_URL: 'http://pay.example' })).toEqual([{ level: 'warn', msg }]);
  });
});

// Docker and Kubernetes pass it in a variable of its own, or as a file.
describe('the password of the database role', async () => {
  const BASE_URL = 'http://localhost:3000';
  const PASSWORD = `-it's a p@ss/w:rd "of" \\ $HOME %41 ключ`;
  const folder = useFolder();
  const { name } = await createRole('', PASSWORD);
  await grantServerRole(server.database.pool, name, { name: 'tests' });
  ledger.note('database password', PASSWORD);
  const url = urlOf(server.database.url, { user: name, password: '' });
  const byVariable = { DATABASE_URL: url, PGPASSWORD: PASSWORD, SECRETS: TEST_SECRET, BASE_URL };

  it('in PGPASSWORD_FILE is used by the server and by every command', async () => {
    const byFile = {
      DATABASE_URL_FILE: fileIn(folder, 'url', `${url}\n`),
      PGPASSWORD_FILE: fileIn(folder, 'password', `${PASSWORD}\n`),
      SECRETS_FILE: fileIn(folder, 'secrets', `${TEST_SECRET}\n`),
    };
    expect(await (await spawnServer(byFile)).stop()).toBe(0);
    const { assent } = commandsOn({ ...byFile, BASE_URL });
    for (const line of ['migrate', 'client list', 'resource create --name API', 'audit --limit 1'])
      expect({ line, ...(await assent(line)) }).toMatchObject({ line, code: 0 });
    expect((await assent('doctor')).stdout).toContain('PostgreSQL answers');
  });

  it('is reported at once if it is missing, with the variable', async () => {
    for (const command of [['serve'], ['client', 'list']]) {
      const asks = /PostgreSQL: it requires a password: set PGPASSWORD or PGPASSWORD_FILE\n$/;
      const run = await runAssent(command, { ...byVariable, PGPASSWORD: '', PORT: String(await freePort()) });
      expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(asks)]);
    }
  });

  it('in DATABASE_URL takes precedence', async () => {
    const DATABASE_URL = urlOf(url, { password: PASSWORD });
    await commandsOn({ ...byVariable, DATABASE_URL, PGPASSWORD: 'another p@ss/w:rd' }).json('client list');
  });
});
