import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { obtainToken } from '../support/flow.ts';
import { ASSENT, Launch } from '../support/launch.ts';
import { plant } from '../support/plant.ts';
import { onDatabase, type Run, runAssent } from '../support/process.ts';
import { startServer, type TestClient, type TestServer, type TestUser } from '../support/server.ts';

let server: TestServer;
let agent: Agent;
let user: TestUser;

beforeAll(async () => {
  server = await startServer();
  agent = new Agent(server.baseUrl);
  user = await server.createUser();
});

afterAll(async () => {
  await server?.close();
});

const variables = () => ({ ...onDatabase(server.database.url), ASSENT_OPERATOR: 'deploy token' });
const assent = (args: string[], stdin = ''): Promise<Run> => runAssent(args, variables(), stdin);

/** The one document that a command prints, and nothing else. */
async function document(args: string[], stdin = ''): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await assent([...args, '--json'], stdin);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** An application that the user has allowed so many instances. */
async function connected(...instances: string[]): Promise<TestClient> {
  const client = await server.createClient();
  for (const instance_name of instances) await obtainToken(agent, client, user, { instance_name });
  return client;
}

describe('--json', () => {
  it('is one document from every command that does something to an application', async () => {
    const shop = ['--name', 'Shop', '--redirect-uri', 'http://shop.example/callback'];
    const created = await document(['client', 'create', ...shop, '--verified', '--most', '30,5000']);
    const id = String(created.client_id);
    expect(created).toEqual({
      client_id: id,
      name: 'Shop',
      redirect_uri: 'http://shop.example/callback',
      client_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      warnings: [expect.stringContaining('unencrypted')],
    });
    expect(
      (await assent(['client', 'update', id, '--redirect-uri', 'http://shop.example/callback'])).stderr,
    ).toBe(
      'warning: codes will travel to this redirect URI unencrypted; use https outside a test\nthere is nothing to change\n',
    );
    const changed = await document([
      ...['client', 'update', id, '--right', 'payment-shop,account-info', '--most', 'none'],
    ]);
    expect(changed).toEqual({
      client_id: id,
      name: 'Shop',
      redirect_uri: 'http://shop.example/callback',
      verified: true,
      status: 'active',
      allowed_rights: ['payment-shop', 'account-info'],
      most: null,
      site: null,
      logo: null,
      reviewed: false,
      user_limits: false,
    });
    expect(await document(['client', 'show', id])).toEqual(changed);
    const { secret_id } = await document(['client', 'secret', 'add', id]);
    expect(await document(['client', 'secret', 'retire', id, String(secret_id)])).toEqual({
      client_id: id,
      secret_id,
      status: 'retired',
    });
    expect(await document(['client', 'block', id])).toEqual({ client_id: id, status: 'blocked' });
    expect((await assent(['client', 'block', id])).stderr).toBe(
      `${id} was blocked before: nothing has changed\n`,
    );
    expect(await document(['client', 'unblock', id])).toEqual({ client_id: id, status: 'active' });
    expect(await document(['client', 'delete', id, '--yes'])).toEqual({
      client_id: id,
      status: 'deleted',
      revoked: 0,
    });
    const trail = await server.database.pool.query(
      'select kind, operator from audit_events where client_id = $1 order by at',
      [id],
    );
    expect(trail.rows.map(({ kind, operator }) => [kind, operator])).toEqual(
      [
        'created',
        'secret_added',
        'updated',
        'secret_added',
        'secret_retired',
        'blocked',
        'unblocked',
        'blocked',
        'deleted',
      ].map((what) => [`client_${what}`, 'deploy token']),
    );
  });

  it('no ceiling where there is none is no change, so that codes under way stay good', async () => {
    const free = ['--name', 'Free', '--redirect-uri', 'https://free.example/'];
    const { client_id } = await document(['client', 'create', ...free]);
    const revision = async () => {
      const { rows } = await server.database.pool.query('select revision from clients where client_id = $1', [
        client_id,
      ]);
      return rows[0].revision;
    };
    const before = await revision();
    const same = await assent(['client', 'update', String(client_id), '--most', 'none']);
    expect(same.stderr).toBe('there is nothing to change\n');
    expect(await revision()).toBe(before);
  });

  it('is one from every command that does something to a user', async () => {
    const passwords = 'a password\nfor payments\n';
    const { user_id } = await document(
      ['user', 'create', 'gerda', '--name', 'Gerda', '--password-stdin'],
      passwords,
    );
    const about = { user_id, login: 'gerda' };
    expect(await document(['user', 'show', 'Gerda'])).toEqual({ ...about, name: 'Gerda', status: 'active' });
    expect(await document(['user', 'block', 'gerda'])).toEqual({ ...about, status: 'blocked' });
    expect(await document(['user', 'unblock', 'gerda'])).toEqual({ ...about, status: 'active' });
    expect(await document(['user', 'sign-out', 'gerda'])).toEqual({
      ...about,
      done: 'signed_out',
    });
    expect(await document(['user', 'set-password', 'gerda', '--password-stdin'], passwords)).toEqual({
      ...about,
      done: 'password_set',
    });
    expect(await document(['user', 'delete', 'gerda', '--yes'])).toEqual({
      user_id,
      status: 'deleted',
      revoked: 0,
    });
  });

  it('is one from every command that does something to a resource server', async () => {
    const { resource_id } = await document(['resource', 'create', '--name', 'API']);
    const id = String(resource_id);
    expect(await document(['resource', 'list'])).toEqual([{ resource_id, name: 'API', status: 'active' }]);
    expect(await document(['resource', 'secret', 'add', id])).toEqual({
      resource_id,
      secret_id: expect.stringMatching(/^[0-9a-f]{8}$/),
      resource_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const secrets = (await document(['resource', 'secret', 'list', id])) as unknown as {
      secret_id: string;
    }[];
    expect(await document(['resource', 'secret', 'retire', id, secrets[0]?.secret_id ?? ''])).toEqual({
      resource_id,
      secret_id: secrets[0]?.secret_id,
      status: 'retired',
    });
    expect(await document(['resource', 'block', id])).toEqual({ resource_id, status: 'blocked' });
    expect(await document(['resource', 'show', id])).toEqual({ resource_id, name: 'API', status: 'blocked' });
    expect(await document(['resource', 'unblock', id])).toEqual({ resource_id, status: 'active' });
    expect(await document(['resource', 'delete', id, '--yes'])).toEqual({ resource_id, status: 'deleted' });
  });

  it('is one from all the others', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await document(['--version'])).toEqual({ version });
    expect((await assent(['--version'])).stdout).toBe(`${version}\n`);
    expect(await document(['client', 'list', '--help'])).toEqual({
      help: expect.stringMatching(/^Usage: assent client list .*^Global Options:.* --json /ms),
    });
    expect(await document(['migrate'])).toEqual({
      version: expect.any(Number),
      known: expect.any(Number),
      applied: [],
      server_role: null,
    });
    expect(await document(['audit', 'prune', '--yes'])).toEqual({ months: [] });
    await server.database.pool.query(`insert into audit_events (at, kind) values ('1700-01-01', 'approved')`);
    expect(await document(['migrate'])).toMatchObject({
      applied: [],
      warnings: [expect.stringContaining('rows that stay in audit_events_rest: 1 of months')],
    });
    const client = await connected('one');
    await server.database.pool.query(`update grants set last_used_on = '2026-11-20' where client_id = $1`, [
      client.clientId,
    ]);
    const [grant] = (await document(['grant', 'list', '--login', user.login])) as unknown as {
      grant_id: string;
    }[];
    expect(grant).toMatchObject({ client_id: client.clientId, last_used_on: '2026-11-20' });
    const { grant_id = '' } = grant ?? {};
    expect(await document(['grant', 'revoke', grant_id])).toEqual({ grant_id, revoked: 1 });
    const ofBoth = ['--client', client.clientId, '--login', user.login];
    expect(await document(['grant', 'revoke', ...ofBoth, '--yes'])).toEqual({
      login: user.login,
      client_id: client.clientId,
      revoked: 0,
    });
  });

  it.each([
    [['nothing'], 2, /^unknown command 'nothing'/],
    [['client'], 2, /^say which command/],
    [['client', 'create', '--name', 'x'], 2, /^required option '--redirect-uri <uri>' not specified/],
    [['client', 'create', '--most', '5'], 2, /Not days and a sum/],
    [['client', 'update', 'x'], 2, /^say what to change/],
    [['client', 'update', 'x', '--name', 'y'], 1, /^there is no client x$/],
    [['migrate', '--status', '--server-role', 'x'], 2, /cannot be used with option '--status'/],
    [['client', 'update', '--right', 'account-info', 'x'], 2, /“x” is no right.*An id stands before --right/],
    [['user', 'create', 'x', '--name', 'y'], 2, /^passwords are asked for .*use --password-stdin$/],
    [['grant', 'revoke'], 2, /^say what to revoke/],
    [['grant', 'revoke', 'x', '--client', 'y'], 2, /^say what to revoke/],
    [['grant', 'revoke', '--client', 'y'], 1, /^there is no client y$/],
    [['resource', 'delete', 'x'], 1, /^there is no resource x$/],
    [['user', 'delete', 'nobody'], 1, /^there is no user nobody$/],
  ])('says errors as JSON on standard error: %j', async (args, code, error) => {
    const run = await assent([...args, '--json']);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code, stdout: '' });
    expect(JSON.parse(run.stderr)).toEqual({ error: expect.stringMatching(error) });
  });

  it('says that the database is away, and what is wrong in the environment, as JSON too', async () => {
    for (const [wrong, error] of [
      [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing' }, /^the database can't be reached: /],
      [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must /],
      [{ ...variables(), ASSENT_OPERATOR: 'line\nbreak' }, /^ASSENT_OPERATOR must be a name/],
    ] as const) {
      const run = await runAssent(['--json', 'client', 'list'], wrong);
      expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 1, stdout: '' });
      expect(JSON.parse(run.stderr)).toEqual({ error: expect.stringMatching(error) });
    }
  });
});

describe('what can’t be undone', () => {
  it('needs --yes in a script, and says what would happen', async () => {
    const client = await connected('one', 'two');
    const ofClient = await assent(['client', 'delete', client.clientId]);
    expect(ofClient).toMatchObject({ code: 2, stdout: '' });
    expect(ofClient.stderr).toBe(
      'nothing was done: this would delete the application Test Shop and revoke 2 authorizations; say --yes to do it\n',
    );
    const ofUser = await assent(['user', 'delete', user.login]);
    expect(ofUser).toMatchObject({ code: 2, stdout: '' });
    expect(ofUser.stderr).toBe(
      `nothing was done: this would erase the user ${user.login} for good and revoke 2 authorizations; say --yes to do it\n`,
    );
    for (const whose of [
      ['--login', user.login],
      ['--client', client.clientId],
    ]) {
      expect(await assent(['grant', 'revoke', ...whose])).toEqual({
        code: 2,
        stdout: '',
        stderr: 'nothing was done: this would revoke 2 authorizations; say --yes to do it\n',
      });
    }
    const all = await document(['grant', 'revoke', '--login', user.login, '--yes']);
    expect(all).toEqual({ login: user.login, revoked: 2 });
    expect(await document(['client', 'delete', client.clientId, '--yes'])).toMatchObject({ revoked: 0 });
  });

  it('needs --yes in a script also for a resource server, the last secret and months of the trail', async () => {
    const { resource_id } = await document(['resource', 'create', '--name', 'Till']);
    const id = String(resource_id);
    const [secret] = (await document(['resource', 'secret', 'list', id])) as unknown as {
      secret_id: string;
    }[];
    const last = ['resource', 'secret', 'retire', id, secret?.secret_id ?? ''];
    await plant(
      server.database,
      `insert into audit_events (at, kind) select '2020-02-29T12:00Z', 'signed_in' from generate_series(1, 2)`,
    );
    const months = 'drop 3 rows of the audit trail, all of 1700-01, 2020-02';
    for (const [args, deed] of [
      [['resource', 'delete', id], 'delete the resource server Till with its secrets'],
      [last, `retire the last live secret of ${id}, which is refused until it has another`],
      [['audit', 'prune', '--keep', '9'], months],
      [['maintain', '--keep', '9'], months],
    ] as const) {
      expect(await assent([...args])).toEqual({
        code: 2,
        stdout: '',
        stderr: `nothing was done: this would ${deed}; say --yes to do it\n`,
      });
    }
    const pruned = ['1700-01', '2020-02'];
    expect(await document(['maintain', '--keep', '9', '--yes'])).toMatchObject({ pruned });
    expect((await assent(['audit', 'prune', '--keep', '9'])).stderr).toContain('would drop 0 rows');
    expect(await document([...last, '--yes'])).toMatchObject({ status: 'retired' });
  });

  const terminal = (command: string) => ['script', '-qec', command, '/dev/null'];
  const hasTerminals = spawnSync('script', terminal('true').slice(1)).status === 0;

  it.skipIf(!hasTerminals)(
    'asks at a terminal, where no is the default (needs `script` of util-linux)',
    async () => {
      const client = await connected('one');
      const command = (what: string) => `${ASSENT.join(' ')} ${what} ${client.clientId}`;
      const answer = async (what: string, question: string, keys: string) => {
        const launch = new Launch(terminal(command(what)), variables());
        await launch.says(`This will ${question}. Go on? [y/N]`);
        launch.type(keys);
        return { end: await launch.end, output: launch.output() };
      };
      const deletion = (count: number) =>
        `delete the application Test Shop and revoke ${count} authorization`;
      const no = { end: { code: 1 }, output: expect.stringContaining('nothing was done') };
      for (const keys of ['\r', 'n\r', '\x04']) {
        expect(await answer('client delete', deletion(1), keys)).toMatchObject(no);
      }
      expect(await answer('grant revoke --client', 'revoke 1 authorization', '\r')).toMatchObject(no);
      const asked = new Launch(terminal(`${command('client delete')} --json`), variables());
      expect((await asked.end).code).toBe(2);
      expect(asked.output()).toMatch(/^{"error":"nothing was done: .*say --yes to do it"}\s*$/);
      const prune = new Launch(terminal(`${ASSENT.join(' ')} audit prune --keep 9`), variables());
      expect((await prune.end).code).toBe(0); // nothing is that old: there is nothing to ask
      const told = new Launch(terminal(`${command('grant revoke --yes --client')}`), variables());
      expect((await told.end).code).toBe(0);
      expect(told.output()).toContain('authorizations revoked: 1');
      expect(await answer('client delete', `${deletion(0)}s`, 'y\r')).toMatchObject({
        end: { code: 0 },
        output: expect.stringContaining('authorizations revoked: 0'),
      });
    },
  );
});

describe('a password of fewer than 8 characters', () => {
  it('is refused by both commands that take one, unless --allow-weak is said', async () => {
    const create = ['user', 'create', 'hanna', '--name', 'Hanna', '--password-stdin'];
    const refused = { code: 1, stdout: '', stderr: expect.stringContaining('say --allow-weak') };
    expect(await assent(create, '1234567\n')).toMatchObject(refused);
    expect((await assent([...create, '--allow-weak'], '1234567\n')).code).toBe(0);
    const change = ['user', 'set-password', 'hanna', '--password-stdin'];
    expect(await assent(change, 'long enough\n1234567\n')).toMatchObject(refused);
    expect((await assent([...change, '--allow-weak'], 'long enough\n1234567\n')).code).toBe(0);
  });
});
