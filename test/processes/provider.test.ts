import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { Agent } from '../support/http/agent.ts';
import { createDatabase } from '../support/postgres/database.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process/process.ts';
import { callbackOf, goOn, leaveFor, openWallet } from '../support/wallet.ts';

// A server with SIGN_IN_ISSUER, as it is run.

it('starts while the provider is unreachable, logs it once, and signs users in once it is reachable', async () => {
  const [database, wallet] = [await createDatabase(), await openWallet()];
  await wallet.down();
  const server = await spawnServer({ ...onDatabase(database.url), ...wallet.variables });
  onTestFinished(async () => {
    await server.stop();
    await database.drop();
  });
  await expect
    .poll(server.output)
    .toMatch(/SIGN_IN_ISSUER does not respond correctly.*; users can't sign in until it does"/);
  const agent = new Agent(server.baseUrl);
  expect((await agent.get('/sign-in')).status).toBe(503);
  await wallet.up();
  expect((await goOn(wallet, agent, '/account')).page).toBe('account');
  await wallet.down();
  const { stdout } = await runAssent(['user', 'list', '--json'], onDatabase(database.url));
  expect(JSON.parse(stdout)).toMatchObject([{ external_id: wallet.user.sub, login: wallet.user.sub }]);
});

it.runIf(process.platform === 'linux')(
  'limits memory for a response of 150 MB, in any encoding',
  async () => {
    const [database, wallet] = [await createDatabase(), await openWallet()];
    const server = await spawnServer({ ...onDatabase(database.url), ...wallet.variables });
    onTestFinished(async () => {
      await server.stop();
      await wallet.down();
      await database.drop();
    });
    const agent = new Agent(server.baseUrl);
    expect((await goOn(wallet, agent, '/account')).page).toBe('account');
    const mostMegabytes = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = mostMegabytes();
    for (const [path, headers] of [
      ['/token', {}],
      ['/token', { 'content-encoding': 'gzip' }],
      ['/token', { 'content-length': '999' }],
      ['/token', { 'content-length': '999999999' }],
      ['/userinfo', {}],
    ] as const) {
      agent.cookies.delete('assent_session');
      const callback = await callbackOf(agent, await leaveFor(wallet, agent, '/account'));
      wallet.replaced = { huge: { path, headers } };
      expect([303, 400, 503]).toContain((await agent.get(callback)).status);
      wallet.replaced = {};
    }
    expect(mostMegabytes() - before).toBeLessThan(60);
  },
);
