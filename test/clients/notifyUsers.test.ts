import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { obtainCode, requestOf, signIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { commandsOn } from '../support/process/commands.ts';
import { startNotifier } from '../support/process/notifier.ts';
import { onDatabase } from '../support/process/process.ts';
import { freePort, useServer } from '../support/server.ts';
import { environment, exampleFile, useExampleFolder } from './examples.ts';

// examples/notifyUsers.mjs receives from a real `assent notify`; a crash loses nothing.

const server = await useServer();
const port = String(await freePort());
const variables = {
  ...onDatabase(server.database.url),
  BASE_URL: server.baseUrl,
  NOTIFY_URL: `http://localhost:${port}/`,
};
const { assent, json } = commandsOn(variables);
const DELIVERED_FILE = join(useExampleFolder(), 'delivered');

const delivered: Record<'id' | 'login' | 'subject' | 'text', string>[] = [];

/** Starts the example. @param killAfter the number of messages after which it is killed */
async function receive(killAfter = Number.POSITIVE_INFINITY) {
  const { secrets } = await json<{ secrets: [string] }>('notify secret');
  const child = spawn(process.execPath, [exampleFile('notifyUsers.mjs')], {
    env: environment({ PORT: port, DELIVERED_FILE, WEBHOOK_SECRET: secrets[0] }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let count = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    count += 1;
    delivered.push(JSON.parse(line));
    if (count === killAfter) child.kill('SIGKILL');
  });
  return child;
}

const subjectsTo = (login: string) =>
  delivered.filter((one) => one.login === login).map(({ subject }) => subject);

it('examples/notifyUsers.mjs delivers each message once, and none without a signature', async () => {
  const user = await server.createUser();
  const client = await server.createClient({ name: 'Corner Shop' });
  const { stderr } = await receive();
  await startNotifier(variables);
  const agent = new Agent(server.baseUrl);
  await obtainCode(agent, requestOf(client, { scope: 'payment-shop.limit(7,1500)' }), user);
  await agent.submit(await agent.get('/oauth/account/password'), 'new_password', {
    password: user.password,
    new_password: newSecret(),
  });
  await expect
    .poll(() => subjectsTo(user.login))
    .toEqual([
      'New sign-in: Unknown browser on an unknown system',
      'Corner Shop can now pay from your account',
      'Your password was changed',
    ]);
  expect((await assent('notify test')).stdout).toBe(`delivered to ${variables.NOTIFY_URL}\n`);
  expect((await fetch(variables.NOTIFY_URL, { method: 'POST', body: '{"id":"1"}' })).status).toBe(401);
  expect(String(await once(stderr, 'data'))).toBe('Missing required headers\n');
  expect(delivered).toHaveLength(3);
});

it('examples/notifyUsers.mjs loses no message in a crash, and repeats at most one', async () => {
  const users = await Promise.all([1, 2, 3, 4].map(() => server.createUser()));
  const crashing = await receive(2);
  await startNotifier(variables);
  for (const { login, password } of users) await signIn(new Agent(server.baseUrl), login, password);
  await once(crashing, 'close');
  await receive();
  const told = () => users.map(({ login }) => new Set(subjectsTo(login)).size);
  await expect
    .poll(async () => {
      await assent('notify resume');
      return told();
    })
    .toEqual([1, 1, 1, 1]);
  expect(users.flatMap(({ login }) => subjectsTo(login)).length).toBeLessThanOrEqual(users.length + 1);
});
