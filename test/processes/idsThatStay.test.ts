import { describe, expect, it, onTestFinished } from 'vitest';
import { introspect, obtainToken, signIn, trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { png } from '../support/pictures.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';

// Ids of another service that stay: of applications with their secrets, and of users; and the way from a payment to its user.

const server = await useServer();
const resource = await server.createResource();
const variables = { ...onDatabase(server.database.url), ASSENT_OPERATOR: 'mover' };
const { assent, json, refused } = commandsOn(variables);
const redirectUri = 'http://127.0.0.1:9/callback';
const CREATE = `client create --name Shop --redirect-uri ${redirectUri}`;

describe('an application with its existing client_id and secret', () => {
  it('gets a token with them', async () => {
    const clientSecret = newSecret();
    ledger.note('client secret', clientSecret);
    const clientId = 'Shop_of.old~1-a';
    const logo = fileIn(useFolder(onTestFinished), 'logo.png', png(64, 64));
    const create = `${CREATE} --id ${clientId} --secret-stdin --logo ${logo}`;
    const created = await json(create, `${clientSecret}\n`);
    const expected = { client_id: clientId, name: 'Shop', redirect_uri: redirectUri, verified: true };
    expect(created).toMatchObject(expected);
    expect(await json(`client show ${clientId}`)).toEqual(created); // without the secret, which is known
    expect((await fetch(`${server.baseUrl}/logo/${clientId}-${created.logo}`)).status).toBe(200);
    const user = await server.createUser();
    const token = await obtainToken(new Agent(server.baseUrl), { clientId, clientSecret, redirectUri }, user);
    expect(await introspect(server, resource, token)).toMatchObject({ active: true, client_id: clientId });
  });

  it.each(['with space', 'ümlaut', 'a/b', 'x'.repeat(129), ''])(
    'is refused for the client_id %j',
    async (id) => {
      expect(await refused(`${CREATE} --id "${id}"`, 1)).toContain('the client id must have 1 to 128');
    },
  );

  it('is refused if the client_id is taken, which changes nothing', async () => {
    await json(`${CREATE} --id taken`);
    const before = await json('client show taken');
    expect(await refused(`${CREATE} --id taken --verified`, 1)).toContain('the client id taken is taken');
    expect(await json('client show taken')).toEqual(before);
  });

  it.each([
    ['of too few bytes', 'short', 'must have 16 to 256'],
    ['of too many bytes', 'x1'.repeat(129), 'must have 16 to 256'],
    ['with a letter that HTTP Basic may lose', 'a secret of münchen, 20 long', 'printable ASCII'],
    ['of few letters', 'abababab'.repeat(8), 'fewer than 128'],
    ['that is a word', 'correct-horse-1234', 'fewer than 128'],
  ])('is refused for a secret %s', async (_which, secret, reason) => {
    const { code, stdout, stderr } = await assent(`${CREATE} --id weak --secret-stdin`, secret);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain(secret);
  });

  it('needs --force for a weak secret', async () => {
    const { code } = await assent(`${CREATE} --id forced --secret-stdin --force`, 'correct-horse-1234');
    expect(code).toBe(0);
  });
});

describe('a user’s id of another service', () => {
  it('is shown beside our own in introspection, lists and the trail', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const token = await obtainToken(new Agent(server.baseUrl), client, user);
    expect(await introspect(server, resource, token)).not.toHaveProperty('external_id');
    const updated = await json(`user update ${user.login} --external-id wallet:1001`);
    expect(updated).toMatchObject({ user_id: user.userId, login: user.login, external_id: 'wallet:1001' });
    expect(await json(`user show ${user.login}`)).toEqual(updated);
    expect(await json('user list --external-id wallet:1001')).toEqual([updated]);
    expect(await json('user list --external-id wallet:100')).toEqual([]);
    const said = await introspect(server, resource, token);
    expect(said).toMatchObject({ active: true, sub: user.userId, external_id: 'wallet:1001' });
    const about = { user_id: user.userId, login: user.login, external_id: 'wallet:1001' };
    const grant = { grant_id: said.grant_id, client_name: 'Test Shop' };
    const whole = { ...about, ...grant, client_id: client.clientId, state: 'active' };
    expect(await json(`grant show ${said.grant_id}`)).toMatchObject(whole);
    const events = await json<Record<string, unknown>[]>(`audit --grant ${said.grant_id}`);
    expect(events.map(({ outcome }) => outcome)).toEqual(['approved', 'exchanged']);
    for (const event of events) expect(event).toMatchObject({ ...about, grant_id: said.grant_id });
    expect(await json(`grant list --login ${user.login}`)).toMatchObject([grant]);
  });

  it('stays when login and name change, and the user stays signed in', async () => {
    const user = await server.createUser();
    const agent = new Agent(server.baseUrl);
    await signIn(agent, user.login, user.password);
    await json(`user update ${user.login} --login "New ${user.login}" --name "Anna Nova"`);
    expect((await agent.get('/account')).text).toContain(`Anna Nova (New ${user.login})`);
    const other = new Agent(server.baseUrl);
    expect(await trySignIn(other, user.login, user.password)).toBe('wrong');
    expect(await trySignIn(other, `new ${user.login}`, user.password)).toBe('right');
    const trail = await json<Record<string, unknown>[]>(`audit --user ${user.userId} --outcome user_updated`);
    expect(trail).toMatchObject([{ operator: 'mover', detail: { fields: ['login', 'name'] } }]);
    expect((await agent.get('/account/history')).text).toContain('We changed your login');
  });

  it('ends the user’s sessions when it changes, and is removed by an empty value', async () => {
    const { login, password } = await server.createUser();
    const agent = new Agent(server.baseUrl);
    await signIn(agent, login, password);
    await json(`user update ${login} --external-id another-${login}`);
    expect((await agent.get('/account')).page).toBe('sign-in');
    expect(await json(`user update ${login} --external-id ""`)).toMatchObject({ external_id: null });
  });

  it('is refused if it is taken, as is a login', async () => {
    const [one, other] = [await server.createUser(), await server.createUser()];
    await json(`user update ${one.login} --external-id of-one`);
    for (const change of ['--external-id of-one', `--login ${one.login.toUpperCase()}`]) {
      const sentence = await refused(`user update ${other.login} ${change} --name Changed`, 1);
      expect(sentence).toContain('another user has');
    }
    expect(await json(`user show ${other.login}`)).toMatchObject({ name: 'Test User', external_id: null });
  });

  it.each([
    ['--external-id " a"', 1, 'the external id must have'],
    [`--external-id ${'x'.repeat(256)}`, 1, 'the external id must have'],
    ['--name " "', 1, 'the name'],
    ['--login ""', 1, 'the login'],
    ['', 2, 'nothing to change: pass at least one of --login, --name or --external-id'],
  ] as const)('is refused if it is invalid: user update %s', async (change, code, reason) => {
    const { login } = await server.createUser();
    expect(await refused(`user update ${login} ${change}`, code)).toContain(reason);
  });
});
