import { describe, expect, it } from 'vitest';
import { grantServerRole } from '../../src/store/schema/serverRole.ts';
import { Agent } from '../support/agent.ts';
import { createRole, useDatabase } from '../support/database.ts';
import { introspect, obtainToken, signIn } from '../support/flow.ts';
import { onDatabase, type Run, runAssent } from '../support/process.ts';
import { startServer, type TestClient, type TestUser } from '../support/server.ts';

const database = await useDatabase();

function assent(args: string[], stdin = ''): Promise<Run> {
  return runAssent(args, onDatabase(database.url), stdin);
}

async function json(args: string[], stdin = ''): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await assent([...args, '--json'], stdin);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function createClient(): Promise<TestClient> {
  const redirectUri = 'https://shop.example/callback';
  const created = await json([
    'client',
    'create',
    '--name',
    'Shop',
    '--redirect-uri',
    redirectUri,
    '--verified',
  ]);
  return { clientId: String(created.client_id), clientSecret: String(created.client_secret), redirectUri };
}

async function createUser(login: string): Promise<TestUser> {
  const created = await json(
    ['user', 'create', login, '--name', 'Anna', '--password-stdin'],
    'the right one\nfor payments\n',
  );
  return {
    login,
    userId: String(created.user_id),
    password: 'the right one',
    paymentPassword: 'for payments',
  };
}

describe('assent client', () => {
  it('registers an application and shows its secret once, in hex', async () => {
    const created = await json([
      'client',
      'create',
      '--name',
      'Shop',
      '--redirect-uri',
      'https://a.example/',
      '--verified',
    ]);
    expect(created).toEqual({
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'Shop',
      redirect_uri: 'https://a.example/',
      client_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { stdout } = await assent(['client', 'list', '--json']);
    expect(stdout).toContain(String(created.client_id));
    expect(stdout).not.toContain(String(created.client_secret));
  });

  it('registers one without verification without a secret', async () => {
    const created = await json([
      'client',
      'create',
      '--name',
      'Shop',
      '--redirect-uri',
      'app.example:/callback',
    ]);
    expect(created).not.toHaveProperty('client_secret');
  });

  it.each([
    '/relative',
    'https://a.example/#part',
    'javascript:alert(1)',
    'https://user@a.example/',
    'https://ä.example/',
  ])('refuses the redirect URI %s with a sentence', async (uri) => {
    const { code, stdout, stderr } = await assent([
      'client',
      'create',
      '--name',
      'Shop',
      '--redirect-uri',
      uri,
      '--json',
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: expect.stringMatching(/^the redirect URI can't be registered: /),
    });
  });

  it('keeps a second secret live until the first is retired, and the last one without --yes', async () => {
    const { clientId, clientSecret } = await createClient();
    const added = await json(['client', 'secret', 'add', clientId]);
    expect(added.client_secret).not.toBe(clientSecret);
    const [first] = JSON.parse((await assent(['client', 'secret', 'list', clientId, '--json'])).stdout) as [
      { secret_id: string },
    ];
    expect((await assent(['client', 'secret', 'retire', clientId, first.secret_id])).code).toBe(0);
    const last = await assent(['client', 'secret', 'retire', clientId, String(added.secret_id)]);
    expect(last).toMatchObject({ code: 2, stderr: expect.stringContaining('say --yes') });
    expect(
      (await assent(['client', 'secret', 'retire', clientId, String(added.secret_id), '--yes'])).code,
    ).toBe(0);
  });

  it('says when there is no such application', async () => {
    for (const command of ['show', 'block', 'unblock', 'delete']) {
      expect(await assent(['client', command, 'nothing'])).toMatchObject({
        code: 1,
        stderr: 'there is no client nothing\n',
      });
    }
  });
});

describe('assent user', () => {
  it('creates a user from standard input and refuses a login that is taken, whatever its case', async () => {
    await createUser('berta');
    const again = await assent(
      ['user', 'create', 'Berta', '--name', 'B', '--password-stdin'],
      'long enough\n',
    );
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: 'the login Berta is taken\n' });
  });

  it('asks for no password where there is no terminal', async () => {
    expect(await assent(['user', 'create', 'carl', '--name', 'C'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--password-stdin'),
    });
  });

  it('refuses an empty password', async () => {
    expect((await assent(['user', 'create', 'dora', '--name', 'D', '--password-stdin'], '\n')).code).toBe(1);
  });
});

describe('a running server', () => {
  it('sees at once what the commands change', async () => {
    const server = await startServer({ database });
    try {
      const [client, user] = [await createClient(), await createUser('emil')];
      const { resource_id, resource_secret } = await json(['resource', 'create', '--name', 'API']);
      const resource = `Basic ${btoa(`${resource_id}:${resource_secret}`)}`;
      const token = await obtainToken(new Agent(server.baseUrl), client, user, { instance_name: 'one' });
      const active = async () => (await introspect(server, resource, token)).active;
      expect(await active()).toBe(true);

      for (const [block, unblock] of [
        [
          ['client', 'block', client.clientId],
          ['client', 'unblock', client.clientId],
        ],
        [
          ['user', 'block', user.login],
          ['user', 'unblock', user.login],
        ],
      ] as const) {
        await assent([...block]);
        expect(await active()).toBe(false);
        await assent([...unblock]);
        expect(await active()).toBe(true);
      }

      const list = await assent(['grant', 'list', '--login', user.login, '--json']);
      const [grant] = JSON.parse(list.stdout) as [Record<string, string>];
      expect(grant).toMatchObject({
        client_id: client.clientId,
        instance_name: 'one',
        scope: 'account-info operation-history',
        state: 'active',
      });
      expect(Date.parse(grant.expires_at ?? '')).toBeGreaterThan(Date.parse(grant.issued_at ?? ''));
      expect((await assent(['grant', 'revoke', grant.grant_id ?? ''])).code).toBe(0);
      expect(await active()).toBe(false);
      const after = JSON.parse(
        (await assent(['grant', 'list', '--login', user.login, '--json'])).stdout,
      ) as unknown;
      expect(after).toMatchObject([{ state: 'revoked' }]);
    } finally {
      await server.close();
    }
  });

  it('ends the sessions of a user whose password is changed, or who is signed out', async () => {
    const server = await startServer({ database });
    try {
      const user = await createUser('frida');
      const agent = new Agent(server.baseUrl);
      await signIn(agent, 'FRIDA', user.password);
      expect((await agent.get('/account')).page).toBe('account');
      expect(
        (await assent(['user', 'set-password', 'frida', '--password-stdin'], 'another one\n')).code,
      ).toBe(0);
      expect((await agent.get('/account')).page).toBe('sign-in');
      expect((await signIn(agent, 'frida', user.password)).status).toBe(422);
      expect((await signIn(agent, 'frida', 'another one')).status).toBe(303);
      expect((await agent.get('/account')).page).toBe('account');
      expect((await assent(['user', 'sign-out', 'Frida'])).code).toBe(0);
      expect((await agent.get('/account')).page).toBe('sign-in');
      expect((await assent(['user', 'sign-out', 'nobody'])).code).toBe(1);
    } finally {
      await server.close();
    }
  });
});

describe('the command line', () => {
  it.each([
    [],
    ['nothing'],
    ['client'],
    ['client', 'create'],
    ['client', 'list', '--nothing'],
    ['grant', 'list'],
  ])('answers bad usage (%s %s %s) with exit code 2 and nothing on standard output', async (...args) => {
    const run = await assent(args.filter((arg) => arg !== undefined));
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).not.toBe('');
  });

  it.each([['--help'], ['client', '--help'], ['user', 'create', '--help'], ['grant', 'revoke', '--help']])(
    'helps everywhere (%s %s %s)',
    async (...args) => {
      expect(await assent(args.filter((arg) => arg !== undefined))).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Usage:'),
      });
    },
  );

  it('says where the schema stands', async () => {
    expect((await assent(['migrate', '--status'])).stdout).toMatch(
      /^schema version (\d+), this build's is \1\n$/,
    );
    expect((await assent(['migrate'])).code).toBe(0);
  });

  it('finds a good set-up good and a bad one wrong', async () => {
    const role = await createRole();
    await grantServerRole(database.pool, role.name, 'tests');
    const good = { ...onDatabase(role.urlOf(database)), BASE_URL: 'https://pay.example' };
    expect(await runAssent(['doctor'], good)).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('error '),
    });
    const bad = { ...good, BASE_URL: 'http://pay.example' };
    expect(await runAssent(['doctor'], bad)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^error {3}BASE_URL/m),
    });
  });

  it('names every wrong variable in a line of its own, and never a secret', async () => {
    const run = await runAssent(['serve'], {
      DATABASE_URL: 'mysql://x:hidden@y',
      PORT: '70000',
      SECRETS: 'hidden',
      CODE_LIFETIME_SECONDS: '60',
    });
    expect(run.code).toBe(1);
    expect(
      run.stderr
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(['BASE_URL', 'DATABASE_URL', 'PORT', 'SECRETS', 'CODE_LIFETIME_SECONDS']);
    expect(run.stderr).not.toContain('hidden');
  });

  it('says in one line that the database is away', async () => {
    const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing' };
    const run = await runAssent(['client', 'list'], away);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^the database can't be reached: .+\n$/);
  });
});
