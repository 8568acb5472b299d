import { expect, it } from 'vitest';
import { copyOf } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  leadsTo,
  linkTo,
  obtainToken,
  press,
  reachConsent,
  requestOf,
  returnFrom,
  tokenRequestOf,
} from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { type TestServer, useServer } from '../../support/server.ts';

// The three roll-outs of docs/operate/secrets.md, on one database: pages of one roll-out work in the next.
const [OLD, NEW] = [newSecret(), newSecret()];
const before = await useServer({ secrets: [OLD] });
const { database } = before;
const servers = {
  before,
  first: await useServer({ database, secrets: [OLD, NEW] }),
  second: await useServer({ database, secrets: [NEW, OLD] }),
  third: await useServer({ database, secrets: [NEW] }),
};
const [client, user] = [await before.createClient(), await before.createUser()];

const movedTo = ({ baseUrl }: TestServer, agent: Agent) => copyOf(agent, baseUrl);

const spending = (instance_name: string) => requestOf(client, { scope: 'payment-shop', instance_name });

it.each([
  ['before', 'first'],
  ['first', 'second'],
  ['second', 'first'],
  ['second', 'third'],
] as const)('replacing SECRETS keeps each page valid, from the roll-out "%s" to "%s"', async (from, to) => {
  let agent = new Agent(servers[from].baseUrl);
  let page = await agent.get(linkTo(spending(`${from} ${to}`)));
  /** Sends a form to the next roll-out, and follows its answer at the earlier one. */
  const send = async (name: string, fields: Record<string, string>) => {
    agent = movedTo(servers[to], agent);
    const { pathname, search } = new URL((await agent.submit(page, name, fields)).location ?? '');
    agent = movedTo(servers[from], agent);
    page = await agent.get(pathname + search);
  };
  await send('login', { login: user.login, password: user.password });
  await send('decision', { decision: 'allow' });
  const confirmation = page;
  await send('payment_password', { payment_password: user.paymentPassword ?? '' });
  const onward = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '')?.[1] ?? '';
  const again = await confirm(movedTo(servers[to], agent), confirmation, user.paymentPassword);
  const answers = [
    await movedTo(servers[from], agent).get(onward),
    await movedTo(servers[to], agent).get(onward),
    await returnFrom(agent, again),
  ];
  const [code = '', ...others] = answers.map(codeOf);
  expect(others).toEqual([code, code]);
  expect((await agent.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(200);
});

it('removing an entry of SECRETS invalidates pages signed with it, and no sessions or tokens', async () => {
  const agent = new Agent(servers.before.baseUrl);
  const token = await obtainToken(agent, client, user, { instance_name: 'kept' });
  const page = await reachConsent(agent, spending('removed'), user);
  const later = movedTo(servers.third, agent);
  expect(leadsTo(await press(later, page, 'allow'), '/oauth/authorize')).toBe(true);
  // Signed by the new entry, on a page of the old one.
  const pressed = await press(movedTo(servers.second, agent), page, 'allow');
  expect(leadsTo(pressed, '/oauth/confirm')).toBe(true);
  const { pathname, search } = new URL(pressed.location ?? '');
  expect(leadsTo(await later.get(pathname + search), '/oauth/authorize')).toBe(true);
  expect((await later.get('/oauth/account')).text).toContain('kept');
  await later.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
  expect((await later.get('/oauth/account')).text).not.toContain('kept');
});
