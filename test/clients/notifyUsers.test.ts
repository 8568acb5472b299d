import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { receiptsIn } from '../support/account.ts';
import { decide, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { createRole } from '../support/postgres/database.ts';
import { CHECKOUT, readFile } from '../support/process/folder.ts';
import { onDatabase } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';
import { environment, exampleFile, useExampleFolder } from './examples.ts';

// examples/notifyUsers.mjs tells users about events on their accounts, and a crash loses nothing.

const ASSENT = join(CHECKOUT, 'bin/assent.js');

const server = await useServer();
/** The role of the document, with another name. */
const role = await createRole();
const guide = readFile('docs/operate/commands.md');
const [, grants = ''] = /```sql\ncreate role assent_notifier login;\n.+\n([^`]+)```/.exec(guide) ?? [];
await server.database.pool.query(grants.replaceAll('assent_notifier', role.name));
const client = await server.createClient({ name: 'Corner Shop' });
const folder = useExampleFolder();
const STATE_FILE = join(folder, 'state');

const delivered: Record<'id' | 'login' | 'message', string>[] = [];

/** @param killAfter the number of messages after which it is killed */
function start(killAfter = Number.POSITIVE_INFINITY, more: Record<string, string> = {}): ChildProcess {
  const variables = { ...onDatabase(role.urlOf(server.database)), STATE_FILE, PAUSE_MS: '50', ...more };
  const child = spawn(process.execPath, [exampleFile('notifyUsers.mjs'), process.execPath, ASSENT], {
    env: environment(variables),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  let count = 0;
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    count += 1;
    delivered.push(JSON.parse(line));
    if (count === killAfter) child.kill('SIGKILL');
  });
  return child;
}

const messages = (login: string) =>
  [...new Map(delivered.map((one) => [one.id, one])).values()]
    .filter((one) => one.login === login)
    .map(({ message }) => message);

const UNKNOWN =
  'There was a sign-in to your account in a browser that we did not recognise (unknown on an unknown system).';

it('examples/notifyUsers.mjs notifies users once of each event on their accounts', async () => {
  const user = await server.createUser();
  start(undefined, { BASE_URL: server.baseUrl });
  await expect.poll(() => existsSync(STATE_FILE)).toBe(true);
  const agent = new Agent(server.baseUrl);
  const spending = requestOf(client, { scope: 'payment-shop.limit(7,1500)' });
  await decide(agent, await reachConsent(agent, spending, user), 'allow');
  const newPassword = newSecret();
  await agent.submit(await agent.get('/oauth/account/password'), 'new_password', {
    password: user.password,
    new_password: newPassword,
  });
  const [receipt = ''] = await receiptsIn(agent);
  const number = receipt.split('/').at(-1);
  const told = [
    UNKNOWN,
    `You gave Corner Shop access to your account. It may spend money from your account. Your payment password confirmed that. Receipt ${number}: ${server.baseUrl}${receipt}`,
    'Your password was changed.',
  ];
  await expect.poll(() => messages(user.login)).toEqual(told);
  // The device is recognised after the new password, so only the sign-in of another one is reported.
  agent.cookies.delete('assent_session');
  await signIn(agent, user.login, newPassword);
  await signIn(new Agent(server.baseUrl), user.login, newPassword);
  await expect.poll(() => messages(user.login)).toEqual([...told, UNKNOWN]);
  expect(delivered).toHaveLength(told.length + 1);
});

it('examples/notifyUsers.mjs loses no event in a crash, and repeats at most one', async () => {
  delivered.length = 0;
  const users = await Promise.all([1, 2, 3, 4].map(() => server.createUser()));
  for (const { login, password } of users) await signIn(new Agent(server.baseUrl), login, password);
  const crashing = start(2);
  await once(crashing, 'close');
  start();
  await expect.poll(() => users.map(({ login }) => messages(login).length)).toEqual([1, 1, 1, 1]);
  const next = await server.createUser();
  await signIn(new Agent(server.baseUrl), next.login, next.password);
  await expect.poll(() => messages(next.login)).toEqual([UNKNOWN]);
  // At most the message in progress was delivered twice.
  const logins = users.map(({ login }) => login);
  const toThem = delivered.filter(({ login }) => logins.includes(login));
  expect(toThem.length).toBeLessThanOrEqual(users.length + 1);
});

it('examples/notifyUsers.mjs writes in the language of the operator’s texts, and in built-in ones where they have none', async () => {
  writeFileSync(
    join(folder, 'ru.json'),
    JSON.stringify({ messages: { password_changed: 'Пароль сменили.' } }),
  );
  delivered.length = 0;
  const user = await server.createUser();
  start(undefined, { LANGUAGE: 'ru', TEXTS: folder });
  const agent = new Agent(server.baseUrl);
  await signIn(agent, user.login, user.password);
  await agent.submit(await agent.get('/oauth/account/password'), 'new_password', {
    password: user.password,
    new_password: newSecret(),
  });
  await expect
    .poll(() => messages(user.login))
    .toEqual([
      'В ваш аккаунт вошли в браузере, который мы не узнали (неизвестный, неизвестная система).',
      'Пароль сменили.',
    ]);
});

it('examples/notifyUsers.mjs does not start in a language without texts', async () => {
  const [code] = await once(start(undefined, { LANGUAGE: 'xx' }), 'close');
  expect(code).toBe(1);
});

it('the role of examples/notifyUsers.mjs can’t write, and can’t read passwords or codes', async () => {
  const { rows } = await server.database.pool.query(
    `select table_name || '.' || column_name as column, privilege_type as right
       from information_schema.role_column_grants
      where grantee = $1 and (privilege_type <> 'SELECT' or table_name not in ('audit_events', 'schema_migrations'))
      order by 1`,
    [role.name],
  );
  expect(rows.map(({ column, right }) => `${right} of ${column}`)).toEqual([
    'SELECT of clients.client_id',
    'SELECT of clients.name',
    'SELECT of users.external_id',
    'SELECT of users.login',
    'SELECT of users.user_id',
  ]);
});
