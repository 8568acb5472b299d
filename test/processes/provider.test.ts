import { expect, it, onTestFinished } from 'vitest';
import { Agent } from '../support/http/agent.ts';
import { ownDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { peakMemory } from '../support/process/launch.ts';
import { onDatabase, ownServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';
import { callbackOf, goOn, leaveFor, openWallet, type Wallet } from '../support/wallet.ts';

async function startWith({ variables }: Wallet) {
  const { url } = await ownDatabase();
  const server = await ownServer({ ...onDatabase(url), ...variables });
  return { server, ...commandsOn(onDatabase(url)) };
}

it('a server starts while the provider is unreachable, and signs users in once it is reachable', async () => {
  const wallet = await openWallet();
  await wallet.down();
  const { server, json } = await startWith(wallet);
  await expect
    .poll(server.output)
    .toMatch(/the OpenID provider does not respond correctly.*; users can't sign in until it does"/);
  const agent = new Agent(server.baseUrl);
  expect((await agent.get('/oauth/sign-in')).status).toBe(503);
  await wallet.up();
  expect((await goOn(wallet, agent, '/oauth/account')).page).toBe('account');
  await wallet.down();
  expect(await json('user list')).toMatchObject([{ external_id: wallet.user.sub, login: wallet.user.sub }]);
});

it.each(['SIGN_IN', 'ADMIN_SIGN_IN'] as const)(
  'operators sign in at the provider of %s_ISSUER',
  async (name) => {
    const wallet = await openWallet();
    onTestFinished(wallet.down);
    wallet.user = { sub: '1', preferred_username: 'maria', groups: 'desk' };
    const variables = Object.entries(wallet.variables).map(([variable, value]) => [
      variable.replace('SIGN_IN', name),
      value,
    ]);
    const [ADMIN_PORT, { url }] = [String(await freePort()), await ownDatabase()];
    const ADMIN_ROLES = 'groups desk=supports';
    await ownServer({ ...onDatabase(url), ...Object.fromEntries(variables), ADMIN_PORT, ADMIN_ROLES });
    const agent = new Agent(`http://localhost:${ADMIN_PORT}`);
    await expect.poll(async () => (await agent.get('/support').catch(() => null))?.status).toBe(200);
    const left = await agent.get('/support/sign-in/provider?back=/support');
    expect((await agent.get(await callbackOf(agent, left.location ?? ''))).location).toBe('/support');
    expect((await agent.get('/support')).text).toContain('maria, with the role supports');
  },
);

it.runIf(process.platform === 'linux')('memory is limited for very large provider responses', async () => {
  const wallet = await openWallet();
  onTestFinished(wallet.down);
  const { server } = await startWith(wallet);
  const agent = new Agent(server.baseUrl);
  expect((await goOn(wallet, agent, '/oauth/account')).page).toBe('account');
  const before = peakMemory(server.pid);
  for (const [path, headers] of [
    ['/token', {}],
    ['/token', { 'content-encoding': 'gzip' }],
    ['/token', { 'content-length': '999' }],
    ['/token', { 'content-length': '999999999' }],
    ['/userinfo', {}],
  ] as const) {
    agent.cookies.delete('assent_session');
    const callback = await callbackOf(agent, await leaveFor(wallet, agent, '/oauth/account'));
    wallet.replaced = { huge: { path, headers } };
    expect([303, 400, 503]).toContain((await agent.get(callback)).status);
    wallet.replaced = {};
  }
  expect(peakMemory(server.pid) - before).toBeLessThan(60 * 1024);
});
