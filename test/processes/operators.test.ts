import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { introspect, obtainToken, signIn, trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { png, svg } from '../support/pictures.ts';
import { plant } from '../support/postgres/plant.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { ASSENT, hasTerminals, Launch, terminal } from '../support/process/launch.ts';
import { onDatabase } from '../support/process/process.ts';
import { type TestClient, useServer } from '../support/server.ts';

// The commands of operators: their documents, refusals and questions.

const server = await useServer();
const agent = new Agent(server.baseUrl);
const user = await server.createUser();
const resource = await server.createResource();
const folder = useFolder();

const variables = { ...onDatabase(server.database.url), ASSENT_OPERATOR: 'deploy token' };
const { assent, json, refused } = commandsOn(variables);

const redirectUri = 'https://shop.example/callback';
const CREATE = `client create --redirect-uri ${redirectUri} --name`;
const create = (name: string, more = '') => json(`${CREATE} "${name}" ${more}`);

const NOTHING = 'there is nothing to change\n';

async function connected(...instances: string[]): Promise<TestClient> {
  const client = await server.createClient();
  for (const instance_name of instances) await obtainToken(agent, client, user, { instance_name });
  return client;
}

const write = (name: string, body: string | Buffer) => fileIn(folder, name, body);

describe('--json', () => {
  it('prints one document for each command about applications [processes-operators-1]', async () => {
    const about = { name: 'Shop', redirect_uri: 'http://shop.example/callback' };
    const uri = `--redirect-uri ${about.redirect_uri}`;
    const create = `client create --name Shop ${uri} --verified --most 30,5000`;
    const before = await json('client list');
    expect(await refused(create, 1)).toContain('unencrypted, without https: choose another, or pass --force');
    expect(await json('client list')).toEqual(before);
    const created = await json(`${create} --force`);
    const id = created.client_id ?? '';
    expect(created).toEqual({
      ...(await json(`client show ${id}`)),
      ...about,
      most: { days: 30, sum: '5000' },
      client_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      warnings: [expect.stringContaining('unencrypted')],
    });
    const unsafe = `client update ${id} --redirect-uri Market:details --reviewed`;
    expect(await refused(unsafe, 1)).toContain('the scheme market:, which browsers rewrite');
    expect(await json(`client show ${id}`)).toMatchObject(about);
    const ambiguous = `client update ${id} --redirect-uri https://shop.example/?scope=x`;
    expect(await refused(ambiguous, 1)).toContain('has scope in its query');
    expect((await assent(`client update ${id} ${uri} --force`)).stderr).toBe(
      `warning: the redirect URI receives codes unencrypted, without https\n${NOTHING}`,
    );
    // Without --force: only a new redirect URI is checked.
    const changed = await json(`client update ${id} --right payment-shop,account-info --most none`);
    const rights = { allowed_rights: ['payment-shop', 'account-info'], most: null, reviewed: false };
    expect(changed).toMatchObject({ client_id: id, ...about, ...rights, verified: true, status: 'active' });
    expect(await json(`client show ${id}`)).toEqual(changed);
    expect((await assent(`client update ${id} --most none`)).stderr).toBe(NOTHING);
    const { secret_id } = await json(`client secret add ${id}`);
    const retired = { client_id: id, secret_id, status: 'retired' };
    expect(await json(`client secret retire ${id} ${secret_id}`)).toEqual(retired);
    expect(await json(`client block ${id}`)).toEqual({ client_id: id, status: 'blocked' });
    const again = await assent(`client block ${id}`);
    expect(again.stderr).toBe(`${id} was already blocked: nothing changed\n`);
    expect(await json(`client unblock ${id}`)).toEqual({ client_id: id, status: 'active' });
    const deleted = { client_id: id, status: 'deleted', revoked: 0 };
    expect(await json(`client delete ${id} --yes`)).toEqual(deleted);
    const done = 'created secret_added updated secret_added secret_retired blocked unblocked blocked deleted';
    const events = await json<Record<string, string>[]>(`audit --client ${id}`);
    expect(events.map(({ outcome, operator }) => [outcome, operator])).toEqual(
      done.split(' ').map((what) => [`client_${what}`, 'deploy token']),
    );
  });

  it('prints one document for each of the other commands', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await json('--version')).toEqual({ version });
    expect((await assent('--version')).stdout).toBe(`${version}\n`);
    expect(await json('client list --help')).toEqual({
      help: expect.stringMatching(/^Usage: assent client list .*^Global Options:.* --json /ms),
    });
    expect(await json('migrate')).toEqual({
      version: expect.any(Number),
      known: expect.any(Number),
      applied: [],
      server_role: null,
    });
    const standing = await assent('migrate --status');
    expect(standing.stdout).toMatch(/^schema version (\d+), this build's is \1\n$/);
    expect(await json('audit prune --yes')).toEqual({ months: [] });
    await server.database.pool.query(`insert into audit_events (at, kind) values ('1700-01-01', 'approved')`);
    expect(await json('maintain')).toMatchObject({ strays: 1 });
    const { clientId } = await connected('one');
    const used = `update grants set last_used_on = '2026-11-20' where client_id = $1`;
    await server.database.pool.query(used, [clientId]);
    const [grant] = await json<Record<string, string>[]>(`grant list --login ${user.login}`);
    expect(grant).toMatchObject({ client_id: clientId, last_used_on: '2026-11-20' });
    const { grant_id } = grant ?? {};
    expect(await json(`grant revoke ${grant_id}`)).toEqual({ grant_id, revoked: 1 });
    const none = `grant revoke --client ${clientId} --login ${user.login} --yes`;
    expect(await json(none)).toEqual({ login: user.login, client_id: clientId, revoked: 0 });
    const stderr = 'there is no live authorization to revoke\n';
    expect(await assent(none)).toEqual({ code: 0, stdout: '', stderr });
  });

  it('takes existing secrets from standard input, ids, and an id at the provider instead of a password', async () => {
    const { client_id: id } = await create('Kettle shop', '--verified');
    const { resource_id } = await json('resource create --name Till --id till-1');
    expect(resource_id).toBe('till-1');
    for (const owner of [`client secret add ${id}`, 'resource secret add till-1']) {
      const secret = newSecret();
      ledger.note('client secret', secret);
      const added = await assent(`${owner} --secret-stdin --json`, `${secret}\n`);
      expect([added.code, added.stdout.includes(secret)]).toEqual([0, false]);
      expect(Object.keys(JSON.parse(added.stdout))).toEqual([expect.stringMatching(/_id$/), 'secret_id']);
      const again = await assent(`${owner} --secret-stdin`, secret);
      expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('has or had this secret') });
      const weak = await assent(`${owner} --secret-stdin`, 'a'.repeat(40));
      expect(weak).toMatchObject({ code: 1, stderr: expect.stringMatching(/has about \d+ bits.*--force/) });
    }
    const made = await json('user create nadia --name Nadia --external-id sub-77');
    expect(await json('user show nadia')).toMatchObject({ ...made, external_id: 'sub-77' });
  });

  it.each([
    ['', 2, /^missing command/],
    ['nothing', 2, /^unknown command 'nothing'/],
    ['client create --name x', 2, /^required option '--redirect-uri <uri>' not specified/],
    ['client create --most 5', 2, /Must be days and a sum/],
    [
      'client update x',
      2,
      /^nothing to change: pass .*--name, .*--no-logo, .*, --events-internal or --no-events-internal$/,
    ],
    ['client create --redirect-uri https://x.example/ --force --name x\u200d', 1, /U\+200D at character 2/],
    ['client update x --reviewed --not-reviewed', 2, /cannot be used with option/],
    ['client update x --site http://shop.example', 1, /^the site must be https:\/\/, a host and at most 500/],
    ['client update x --logo /nowhere.svg', 1, /^the logo \/nowhere\.svg can't be read: ENOENT$/],
    [
      `client update x --logo ${write('entities.svg', `<!DOCTYPE svg>${svg()}`)}`,
      1,
      /^the logo \S+\/entities\.svg has <!DOCTYPE, which a logo must not have: save it as plain SVG, with paths only$/,
    ],
    ...['ümlaut', 'a/b', 'x'.repeat(129), ''].map(
      (id) => [`${CREATE} Shop --id "${id}"`, 1, /^the client id must have 1 to 128/] as const,
    ),
    ['migrate --status --server-role x', 2, /cannot be used with option '--status'/],
    ['client update --right account-info x', 2, /^missing required argument 'id'$/],
    ['user create x --name y', 2, /^prompts for passwords .*use --password-stdin$/],
    ['grant list', 2, /^pass --login, --client or both/],
    ['resource delete x', 1, /^there is no resource x$/],
    ['grant show 6b2c9a41', 1, /^there is no grant 6b2c9a41$/],
    [`user update x --external-id ${'x'.repeat(256)}`, 1, /^the external id must have/],
    ['user list --limit 1001', 2, /Not a number from 1 to 1000/],
    ['audit --user anna', 2, /pass a login as --login/],
    ['audit --until 2026-02-01T12:00:00', 2, /Must be a day, or a time/],
    ['audit --outcome aproved', 2, /Must be one of approved, approved_again, rejected,/],
    ['audit next --limit 5', 2, /audit next does not accept --limit/],
    ['audit prune --keep 0', 2, /Not a number from 1 to 9999/],
    ['audit --since 2020-01-01 prune', 2, /audit prune does not accept --since/],
  ] as const)('prints errors as JSON on standard error: assent %s', async (line, code, error) => {
    expect(JSON.parse(await refused(`${line} --json`, code))).toEqual({
      error: expect.stringMatching(error),
    });
  });

  it('reports an unreachable database and wrong environment variables as JSON too', async () => {
    for (const [wrong, error] of [
      [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing' }, /^the database can't be reached: /],
      [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must /],
      [{ ...variables, ASSENT_OPERATOR: 'line\nbreak' }, /^ASSENT_OPERATOR must be a name/],
    ] as const) {
      const said = await commandsOn(wrong).refused('--json client list', 1);
      expect(JSON.parse(said)).toEqual({ error: expect.stringMatching(error) });
    }
  });
});

describe('a user', () => {
  const createUser = async (login: string) => {
    const input = `${newSecret()}\n${newSecret()}\n`;
    return (await json(`user create ${login} --name Ida --password-stdin`, input)).user_id ?? '';
  };

  it('can be given by user_id or login, in every command', async () => {
    const id = await createUser('ida');
    const [about, input] = [{ user_id: id, login: 'ida' }, `${newSecret()}\n`];
    expect(await json('user show Ida')).toMatchObject({ ...about, status: 'active', external_id: null });
    const { stdout } = await assent('user show Ida');
    expect(stdout).toMatch(/^status +active\nwait_seconds +0\npayment_password +set\n$/m);
    for (const named of [id, id.toUpperCase(), 'IDA']) {
      expect(await json(`user show ${named}`)).toMatchObject(about);
      expect(await json(`user update ${named} --name Ida`)).toMatchObject(about);
      expect(await json(`user block ${named}`)).toEqual({ ...about, status: 'blocked' });
      expect(await json(`user unblock ${named}`)).toEqual({ ...about, status: 'active' });
      expect(await json(`user sign-out ${named}`)).toEqual({ ...about, done: 'signed_out' });
      const set = `user set-password ${named} --password-stdin`;
      expect(await json(set, input)).toEqual({ ...about, done: 'password_set' });
      expect(await json(`audit --login ${named}`)).toEqual(await json(`audit --user ${id}`));
    }
    await obtainToken(new Agent(server.baseUrl), await server.createClient(), {
      ...user,
      login: 'ida',
      password: input.trim(),
    });
    const [grant, ...others] = await json<object[]>(`grant list --login ${id}`);
    expect([grant, others]).toEqual([expect.not.objectContaining({ login: 'ida' }), []]);
    expect(await json(`grant revoke --login ${id} --yes`)).toEqual({ login: id, revoked: 1 });
    expect((await assent(`user delete ${id}`)).stderr).toContain('erase the user ida for good');
    expect(await json(`user delete ${id} --yes`)).toEqual({ user_id: id, status: 'deleted', revoked: 0 });
    expect(await refused(`user show ${id}`, 1)).toBe(`there is no user ${id}\n`);
  });

  it('can’t get another user’s id as login, in any letter case', async () => {
    const id = await createUser('victim');
    const own = '0f5bbcd6-9d17-4f3c-8f6a-3f1a5d4f7c55';
    const other = await createUser(own);
    expect(await json(`user show ${own.toUpperCase()}`)).toMatchObject({ user_id: other, login: own });
    const wide = id.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    for (const login of [id, id.toUpperCase(), wide]) {
      const create = await assent(`user create ${login} --name Eve --password-stdin`, `${newSecret()}\n`);
      expect(create).toMatchObject({ code: 1, stderr: `the login ${login} is taken\n` });
      expect(await refused(`user update ${own} --login ${login}`, 1)).toContain('another user has');
      const file = write('eve.ndjson', JSON.stringify({ login, name: 'Eve' }));
      const { code, stdout } = await assent(`user import ${file} --json`);
      const reason = { line: 1, field: 'login', reason: 'is the id of another user' };
      expect([code, JSON.parse(stdout).bad_lines]).toEqual([1, [reason]]);
    }
    expect(await json(`user update victim --login ${id}`)).toMatchObject({ user_id: id, login: id });
    const same = write('same.ndjson', JSON.stringify({ login: id, name: 'Ida' }));
    expect((await assent(`user import ${same} --json`)).stdout).not.toContain('the id of another user');
  });
});

describe('assent user update', () => {
  it('sets an external_id, which introspection, lists and the audit trail show', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const token = await obtainToken(new Agent(server.baseUrl), client, user);
    expect(await introspect(server, resource, token)).not.toHaveProperty('external_id');
    const updated = await json(`user update ${user.login} --external-id wallet:1001`);
    expect(updated).toMatchObject({ user_id: user.userId, login: user.login, external_id: 'wallet:1001' });
    expect(await json(`user show ${user.login}`)).toEqual({ ...updated, wait_seconds: 0 });
    expect(await json('user list --external-id wallet:1001')).toEqual([updated]);
    expect(await json('user list --external-id wallet:100')).toEqual([]);
    const said = await introspect(server, resource, token);
    expect(said).toMatchObject({ active: true, sub: user.userId, external_id: 'wallet:1001' });
    const about = { login: user.login, external_id: 'wallet:1001', grant_id: said.grant_id };
    expect(await json(`grant show ${said.grant_id}`)).toMatchObject({ ...about, state: 'active' });
    expect(await json(`audit --grant ${said.grant_id}`)).toMatchObject([
      { ...about, outcome: 'approved' },
      { ...about, outcome: 'exchanged' },
    ]);
  });

  it('changes login and name of a user, who stays signed in', async () => {
    const user = await server.createUser();
    const agent = new Agent(server.baseUrl);
    await signIn(agent, user.login, user.password);
    await json(`user update ${user.login} --login "New ${user.login}" --name "Anna Nova"`);
    expect((await agent.get('/oauth/account')).text).toContain(`Anna Nova (New ${user.login})`);
    const other = new Agent(server.baseUrl);
    expect(await trySignIn(other, user.login, user.password)).toBe('wrong');
    expect(await trySignIn(other, `new ${user.login}`, user.password)).toBe('right');
    const trail = await json<Record<string, unknown>[]>(`audit --user ${user.userId} --outcome user_updated`);
    expect(trail).toMatchObject([{ operator: 'deploy token', detail: { fields: ['login', 'name'] } }]);
    expect((await agent.get('/oauth/account/history')).text).toContain('We changed your login');
  });

  it('sets only an external_id and login of no other user, and ends the sessions for a new external_id', async () => {
    const [one, other] = [await server.createUser(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    await signIn(agent, one.login, one.password);
    await json(`user update ${one.login} --external-id of-one`);
    expect((await agent.get('/oauth/account')).page).toBe('sign-in');
    for (const change of ['--external-id of-one', `--login ${one.login.toUpperCase()}`]) {
      const sentence = await refused(`user update ${other.login} ${change} --name Changed`, 1);
      expect(sentence).toContain('another user has');
    }
    expect(await json(`user show ${other.login}`)).toMatchObject({ name: 'Test User', external_id: null });
    expect(await json(`user update ${one.login} --external-id ""`)).toMatchObject({ external_id: null });
  });
});

it('the details of an application that users see can be changed one by one, like the OAuth 2.1 setting', async () => {
  const { client_id: id } = await create('Shop');
  const logo = `--logo ${write('logo.svg', svg())}`;
  const other = `--logo ${write('other.svg', svg('<g/>'))}`;
  for (const [change, said] of [
    [logo, 'changed logo\n'],
    ['--site https://shop.example --user-limits', 'changed site, user_limits\n'],
    ['--reviewed --oauth-2.1', 'changed reviewed, oauth21\n'],
    [`${logo} --reviewed --user-limits --oauth-2.1`, NOTHING],
    [`${other} --not-reviewed --no-user-limits`, 'changed logo, reviewed, user_limits\n'],
    ['--no-logo --site none --no-oauth-2.1', 'changed site, logo, oauth21\n'],
    ['--no-oauth-2.1 --oauth-2.1', 'changed oauth21\n'], // the last one counts
  ])
    expect((await assent(`client update ${id} ${change}`)).stderr).toBe(said);
  const now = { site: null, logo: null, reviewed: false, user_limits: false, oauth21: true };
  expect(await json(`client show ${id}`)).toMatchObject(now);
  const [{ detail } = {}] = await json<Record<string, unknown>[]>(`audit --client ${id} --limit 1`);
  expect(detail).toEqual({ oauth21: { from: false, to: true } });
});

describe('the name of an application', () => {
  it('can’t be the service’s own name, in any language', async () => {
    const BRAND = write('brand.json', '{"name":{"en":"My Wallet","ru":"Мой кошелёк"}}');
    const branded = commandsOn({ ...variables, BRAND });
    for (const [name, own] of [
      ['MYWALLET', 'My Wallet'],
      ['Мой кошелек', 'Мой кошелёк'],
      ['Assent', 'Assent'],
    ])
      expect(await branded.refused(`${CREATE} "${name}"`, 1)).toBe(
        `the name looks like this service’s own, “${own}”: choose another, or pass --force\n`,
      );
    write('brand.json', '{}');
    expect(await branded.refused(`${CREATE} Shop`, 1)).toMatch(/^BRAND .*brand\.json: name must be/);
  });

  it('can’t resemble another application’s without --force [processes-operators-2]', async () => {
    const own = await create('Tea House');
    expect(await refused(`${CREATE} "TEA H0USE"`, 1)).toContain(
      'the name looks like that of another application, “Tea House”: choose another, or pass --force',
    );
    expect(await create('TEA H0USE', '--force')).toMatchObject({ name: 'TEA H0USE' });
    const { client_id } = await create('Coffee House');
    const rename = `client update ${client_id} --name`;
    expect((await assent(`${rename} "COFFEE HOUSE"`)).code).toBe(0); // its own name is no obstacle
    expect(await refused(`${rename} "TEA H0U5E"`, 1)).toContain('looks like that of another application');
    const { warnings } = await create('Tea House', '--force');
    expect(own).not.toHaveProperty('warnings');
    const twins = 'another application has the name “Tea House”, too: users can’t tell them apart';
    expect(warnings).toEqual([twins]);
  });
});

it('an application with its existing client_id and secret is registered with them, and gets a token', async () => {
  const clientSecret = newSecret();
  ledger.note('client secret', clientSecret);
  const clientId = 'Shop_of.old~1-a';
  const logo = write('logo.png', png(64, 64));
  const command = `${CREATE} Kiosk --id ${clientId} --secret-stdin --logo ${logo}`;
  const created = await json(command, `${clientSecret}\n`);
  expect(await json(`client show ${clientId}`)).toEqual(created); // without the secret, which is known
  expect((await fetch(`${server.baseUrl}/oauth/logo/${clientId}-${created.logo}`)).status).toBe(200);
  const user = await server.createUser();
  const token = await obtainToken(new Agent(server.baseUrl), { clientId, clientSecret, redirectUri }, user);
  expect(await introspect(server, resource, token)).toMatchObject({ active: true, client_id: clientId });
});

describe('an irreversible command', () => {
  it('needs --yes in a script, and says what would happen', async () => {
    const { clientId } = await connected('one', 'two');
    const { resource_id: id } = await json('resource create --name Till');
    const [secret] = await json<Record<string, string>[]>(`resource secret list ${id}`);
    const last = `resource secret retire ${id} ${secret?.secret_id}`;
    await plant(
      server.database,
      `insert into audit_events (at, kind) select '2020-02-29T12:00Z', 'signed_in' from generate_series(1, 2)`,
    );
    const months = 'drop 3 rows of the audit trail, all of 1700-01, 2020-02';
    for (const [line, deed] of [
      [`client delete ${clientId}`, 'delete the application Test Shop and revoke 2 authorizations'],
      [`user delete ${user.login}`, `erase the user ${user.login} for good and revoke 2 authorizations`],
      [`grant revoke --login ${user.login}`, 'revoke 2 authorizations'],
      [`grant revoke --client ${clientId}`, 'revoke 2 authorizations'],
      [`resource delete ${id}`, 'delete the resource server Till with its secrets'],
      [last, `retire the last live secret of ${id}, which is refused until it has another`],
      ['audit prune --keep 9', months],
      ['maintain --keep 9', months],
    ] as const)
      expect(await refused(line, 2)).toBe(`nothing was done: pass --yes to ${deed}\n`);
    const all = await json(`grant revoke --login ${user.login} --yes`);
    expect(all).toEqual({ login: user.login, revoked: 2 });
    expect(await json(`client delete ${clientId} --yes`)).toMatchObject({ revoked: 0 });
    expect(await json('maintain --keep 9 --yes')).toMatchObject({ pruned: ['1700-01', '2020-02'] });
    expect((await assent('audit prune --keep 9')).stderr).toContain('--yes to drop 0 rows');
    expect(await json(`${last} --yes`)).toMatchObject({ status: 'retired' });
  });

  it.skipIf(!hasTerminals)('prompts at a terminal, with "no" as the default (needs `script`)', async () => {
    const deletion = `client delete ${(await connected('one')).clientId}`;
    const question = 'This will delete the application Test Shop and revoke 1 authorization. Continue? [y/N]';
    /** @param keys the answer to the question, undefined if none is expected */
    const at = async (line: string, keys?: string) => {
      const launch = new Launch(terminal(`${ASSENT.join(' ')} ${line}`), variables);
      if (keys !== undefined) await launch.says(question).then(() => launch.type(keys));
      return { ...(await launch.end), output: launch.output() };
    };
    for (const keys of ['\r', 'n\r', '\x04']) {
      const output = expect.stringContaining('nothing was done');
      expect(await at(deletion, keys)).toMatchObject({ code: 1, output });
    }
    const output = expect.stringMatching(/^{"error":"nothing was done: pass --yes to .*"}\s*$/);
    expect(await at(`${deletion} --json`)).toMatchObject({ code: 2, output });
    expect(await at('audit prune --keep 9')).toMatchObject({ code: 0 }); // nothing is that old: no question
    const done = expect.stringContaining('authorizations revoked: 1');
    expect(await at(deletion, 'y\r')).toMatchObject({ code: 0, output: done });
  });
});
