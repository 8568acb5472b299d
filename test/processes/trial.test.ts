import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { joinEmbeddedPostgres } from '../../src/trial/postgres/join.ts';
import { decide, linkTo, signIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { commandsOn } from '../support/process/commands.ts';
import { clusterOf, postmasterOf, useFolder } from '../support/process/folder.ts';
import { formTo, Player } from '../support/process/playground.ts';
import type { ServerProcess } from '../support/process/process.ts';
import { credentials, freePair, startTrial } from '../support/process/trial.ts';
import { goOn, openWallet } from '../support/wallet.ts';

const newTrial = async () => ({ PORT: String(await freePair()), DATA_DIR: useFolder(onTestFinished) });

async function start(variables: Record<string, string>): Promise<ServerProcess> {
  const server = await startTrial(variables);
  onTestFinished(async () => void (await server.stop()));
  return server;
}

/** Repeats the sign-in while the server, which has just started, asks for that. */
async function expectSignIn(
  { baseUrl }: ServerProcess,
  { login, password }: Record<'login' | 'password', string>,
): Promise<Agent> {
  const agent = new Agent(baseUrl);
  const signedIn = async () => {
    await signIn(agent, login, password);
    return (await agent.get('/oauth/account')).page;
  };
  await expect.poll(signedIn).toBe('account');
  return agent;
}

it('trial mode starts from nothing, prints addresses and passwords, and serves the demo application', async () => {
  const variables = await newTrial();
  const server = await start(variables);
  // No line of the log follows it, and a terminal of 80 columns wraps none of its lines.
  expect(server.output()).toMatch(/\n\nAssent is ready at \S+ \(trial mode\)\n( {2}.{1,78}\n){6}\n$/);
  const { open, login, password, payment, other } = credentials(server);
  expect(open).toBe(`http://127.0.0.1:${Number(variables.PORT) + 1}`);
  expect((await new Agent(open).get('/')).text).toContain(password);
  const agent = await expectSignIn(server, { login, password });
  expect(payment).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){2}$/);
  expect((await agent.get('/nowhere')).text).toContain('Details for developers');
  expect(other.password).not.toBe(password);
  await expectSignIn(server, other);
});

it('trial mode shows no passwords if a provider signs users in', async () => {
  const wallet = await openWallet();
  onTestFinished(wallet.down);
  const variables = await newTrial();
  const server = await start({ ...variables, ...wallet.variables });
  const { open, ...shown } = credentials(server);
  expect(shown).toEqual({ login: '', password: '', payment: '', other: { login: '', password: '' } });
  const kept = JSON.parse(readFileSync(join(variables.DATA_DIR, 'demo.json'), 'utf8'));
  const [{ password, paymentPassword }] = kept.users;
  const person = new Player({ open, ...shown }, server.baseUrl);
  for (const page of [await person.shop.get('/'), await person.ask('account-info')]) {
    for (const text of ['Sign in as', password, paymentPassword]) expect(page.text).not.toContain(text);
    expect(page.text).not.toMatch(/password/i);
  }
  const agent = new Agent(server.baseUrl);
  const { fields } = formTo(await person.shop.get('/request'), '/oauth/authorize');
  const answer = await decide(agent, await goOn(wallet, agent, linkTo(fields)), 'allow');
  await person.shop.get(answer.location ?? '');
  expect((await person.messages()).at(-1)?.title).toBe('The exchange: a token for the code');
});

it.each([
  ['a start that failed before it stored the passwords', (folder: string) => join(folder, 'demo.json')],
  ['the deletion of its database', clusterOf],
])('trial mode registers its demo again after %s', async (_what, lost) => {
  const variables = await newTrial();
  expect(await (await start(variables)).stop()).toBe(0);
  rmSync(lost(variables.DATA_DIR), { recursive: true });
  const again = await start(variables);
  const person = new Player(credentials(again), again.baseUrl);
  await person.connect('payment-shop.limit(1,10)');
  expect((await person.pay('10')).at(-1)?.title).toBe('Paid');
});

it('trial mode explains how to continue after PostgreSQL was killed, and keeps its data, even if Assent was killed too', async () => {
  const variables = await newTrial();
  const first = await start(variables);
  const before = credentials(first);
  process.kill(postmasterOf(variables.DATA_DIR), 'SIGKILL');
  await expect.poll(() => first.output()).toContain('stop Assent and start it again');
  await first.stop('SIGKILL');
  const second = await start(variables);
  expect(credentials(second)).toEqual(before);
  await expectSignIn(second, before);
});

it('trial mode serves as a role that owns nothing, and commands use the same data as the owner', async () => {
  const variables = await newTrial();
  const { assent, json } = commandsOn(variables);
  const list = async () => (await json<{ name: string }[]>('client list')).map(({ name }) => name);
  expect(await list()).toEqual([]);
  const server = await start(variables);
  expect(await list()).toEqual(['Demo Shop']);
  const member = await joinEmbeddedPostgres(variables.DATA_DIR);
  const client = new Client(member.connection);
  await client.connect();
  const { rows } = await client.query(
    `select distinct usename, usesuper from pg_stat_activity join pg_user using (usename) where application_name = 'assent'`,
  );
  await client.end();
  await member.leave();
  expect(rows).toEqual([{ usename: 'assent_server', usesuper: false }]);
  const doctor = await commandsOn({ ...variables, BASE_URL: server.baseUrl }).assent('doctor');
  const stdout = expect.stringMatching(/^ok +the role assent_server may read and write rows/m);
  expect(doctor).toMatchObject({ code: 0, stdout });
  expect((await assent('audit prune --yes')).code).toBe(0);
  expect(await server.stop()).toBe(0);
  expect(await list()).toEqual(['Demo Shop']);
});

it('trial mode creates no demo with DEMO=off, nor in an existing database', async () => {
  const variables = await newTrial();
  const without = await start({ ...variables, DEMO: 'off' });
  expect(credentials(without).login).toBe('');
  const create = 'user create anna --name Anna --password-stdin';
  await commandsOn(variables).json(create, 'long enough\n');
  await without.stop();
  const later = await start(variables);
  expect(credentials(later).login).toBe('');
});

it('trial mode starts with a warning when the port of the demo application is in use', async () => {
  const variables = await newTrial();
  const ofDemo = Number(variables.PORT) + 1;
  const taker = createServer().listen(ofDemo, '127.0.0.1');
  onTestFinished(() => void taker.close());
  const server = await start(variables);
  expect(server.output()).toContain(`the demo application can't listen on http://127.0.0.1:${ofDemo}`);
  expect((await fetch(`${server.baseUrl}/health/ready`)).status).toBe(200);
});
