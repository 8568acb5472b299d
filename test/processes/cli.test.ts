import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { commandsOn } from '../support/commands.ts';
import { introspect, obtainToken, signIn } from '../support/flow.ts';
import { onDatabase, runAssent, spawnAssent } from '../support/process.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer();
const { assent, json, refused } = commandsOn(onDatabase(server.database.url));

const redirectUri = 'https://shop.example/callback';
const SHOP = `client create --name Shop --redirect-uri ${redirectUri}`;

async function createClient(): Promise<TestClient> {
  const { client_id: clientId = '', client_secret: clientSecret = '' } = await json(`${SHOP} --verified`);
  return { clientId, clientSecret, redirectUri };
}

async function createUser(login: string): Promise<TestUser> {
  const [password, paymentPassword] = ['the right one', 'for payments'];
  const create = `user create ${login} --name Anna --password-stdin`;
  const { user_id: userId = '' } = await json(create, `${password}\n${paymentPassword}\n`);
  return { login, userId, password, paymentPassword };
}

describe('assent client', () => {
  it('registers an application and shows its secret once, in hex, and none without verification', async () => {
    const created = await json(`${SHOP} --verified`);
    expect(created).toEqual({
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'Shop',
      redirect_uri: redirectUri,
      client_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { stdout } = await assent('client list --json');
    expect(stdout).toContain(created.client_id);
    expect(stdout).not.toContain(created.client_secret);
    expect(await json(SHOP)).not.toHaveProperty('client_secret');
  });

  it('refuses a redirect URI with a sentence', async () => {
    const sentence = await refused('client create --name Shop --redirect-uri /relative', 1);
    expect(sentence).toMatch(/^the redirect URI can't be registered: /);
  });

  it('says when there is no such application', async () => {
    for (const command of ['show', 'block', 'unblock', 'delete'])
      expect(await refused(`client ${command} nothing`, 1)).toBe('there is no client nothing\n');
  });
});

describe('assent user', () => {
  it('refuses a login that is taken, whatever its case, and an empty password', async () => {
    await createUser('berta');
    const create = (login: string, stdin: string) =>
      assent(`user create ${login} --name B --password-stdin`, stdin);
    expect(await create('Berta', 'long enough\n')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'the login Berta is taken\n',
    });
    expect((await create('dora', '\n')).code).toBe(1);
  });

  it('asks for no password where there is no terminal', async () => {
    expect(await refused('user create carl --name C', 2)).toContain('--password-stdin');
  });
});

describe('a running server', () => {
  it('sees at once what the commands change', async () => {
    const [client, user] = [await createClient(), await createUser('emil')];
    const { resource_id, resource_secret } = await json('resource create --name API');
    const resource = `Basic ${btoa(`${resource_id}:${resource_secret}`)}`;
    const token = await obtainToken(new Agent(server.baseUrl), client, user, { instance_name: 'one' });
    const active = async () => (await introspect(server, resource, token)).active;
    expect(await active()).toBe(true);
    for (const whose of [`client %s ${client.clientId}`, `user %s ${user.login}`]) {
      await assent(whose.replace('%s', 'block'));
      expect(await active()).toBe(false);
      await assent(whose.replace('%s', 'unblock'));
      expect(await active()).toBe(true);
    }
    const grants = () => json<Record<string, string>[]>(`grant list --login ${user.login}`);
    const [grant = {}] = await grants();
    expect(grant).toMatchObject({
      client_id: client.clientId,
      instance_name: 'one',
      scope: 'account-info operation-history',
      state: 'active',
    });
    expect(Date.parse(grant.expires_at ?? '')).toBeGreaterThan(Date.parse(grant.issued_at ?? ''));
    expect((await assent(`grant revoke ${grant.grant_id}`)).code).toBe(0);
    expect(await active()).toBe(false);
    expect(await grants()).toMatchObject([{ state: 'revoked' }]);
  });

  it('ends the sessions of a user whose password is changed, or who is signed out', async () => {
    const user = await createUser('frida');
    const agent = new Agent(server.baseUrl);
    const shown = async () => (await agent.get('/account')).page;
    await signIn(agent, 'FRIDA', user.password);
    expect(await shown()).toBe('account');
    expect((await assent('user set-password frida --password-stdin', 'another one\n')).code).toBe(0);
    expect(await shown()).toBe('sign-in');
    expect((await signIn(agent, 'frida', user.password)).status).toBe(422);
    expect((await signIn(agent, 'frida', 'another one')).status).toBe(303);
    expect(await shown()).toBe('account');
    expect((await assent('user sign-out Frida')).code).toBe(0);
    expect(await shown()).toBe('sign-in');
    await refused('user sign-out nobody', 1);
  });
});

describe('the command line', () => {
  it.each(['', 'nothing', 'client', 'client create', 'client list --nothing', 'grant list'])(
    'answers bad usage (%s) with exit code 2 and nothing on standard output',
    async (line) => {
      expect(await refused(line, 2)).not.toBe('');
    },
  );

  it.each(['--help', 'client --help', 'user create --help', 'grant revoke --help'])(
    'helps everywhere (%s)',
    async (line) => {
      expect(await assent(line)).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage:') });
    },
  );

  it('is a process with these exit codes and streams', async () => {
    const variables = onDatabase(server.database.url);
    expect(await spawnAssent(['nothing'], variables)).toMatchObject({ code: 2, stdout: '' });
    expect(await spawnAssent(['client', 'show', 'nothing'], variables)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'there is no client nothing\n',
    });
    const user = ['user', 'create', 'piped', '--name', 'P', '--password-stdin', '--json'];
    const { code, stdout } = await spawnAssent(user, variables, 'a password by a pipe\n');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { login: 'piped' }]);
  });

  it('says where the schema stands', async () => {
    expect((await assent('migrate --status')).stdout).toMatch(/^schema version (\d+), this build's is \1\n$/);
    expect((await assent('migrate')).code).toBe(0);
  });

  it('names every wrong variable in a line of its own, and never a secret', async () => {
    const { code, stderr } = await runAssent(['serve'], {
      DATABASE_URL: 'mysql://x:hidden@y',
      PORT: '70000',
      SECRETS: 'hidden',
      CODE_LIFETIME_SECONDS: '60',
      WORKERS: '1',
    });
    const lines = stderr.trim().split('\n');
    expect([code, ...lines.map((line) => line.split(' ')[0])]).toEqual([
      1,
      ...['WORKERS', 'BASE_URL', 'DATABASE_URL', 'PORT', 'SECRETS', 'CODE_LIFETIME_SECONDS'],
    ]);
    expect(stderr).not.toContain('hidden');
  });

  it('says in one line that the database is away', async () => {
    const away = commandsOn({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing' });
    expect(await away.refused('client list', 1)).toMatch(/^the database can't be reached: .+\n$/);
  });
});
