import { beforeEach, describe, expect, it } from 'vitest';
import { follow, isSignedIn, press, signedIn } from '../../support/account.ts';
import { obtainToken } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { type TestUser, useServer } from '../../support/server.ts';

const server = await useServer();
const { pool } = server.database;

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const client = await server.createClient();
let user: TestUser;
let agent: Agent;

beforeEach(async () => {
  user = await server.createUser();
  agent = await signedIn(server, user, { 'user-agent': FIREFOX });
});

const NEW = newSecret();

const invalidField = ({ body }: Answer) => /name="(\w+)"[^>]*aria-invalid/.exec(body)?.[1];

it.each([31, 29])('the account page warns before a connection ends: %d days left', async (days) => {
  await obtainToken(agent, client, user);
  const age = `update grants set token_issued_at = clock_timestamp() - interval '3 years' + $2 * interval '1 day' where user_id = $1`;
  await pool.query(age, [user.userId, days]);
  expect((await agent.get('/oauth/account')).text.includes('Ends soon')).toBe(days < 30);
});

it.each(['history', 'security', 'stop', 'password', 'payment-password'])(
  'each page of the account requires a session: %s',
  async (page) => {
    const { status, location } = await new Agent(server.baseUrl).get(`/oauth/account/${page}`);
    expect([status, location]).toEqual([303, `${server.baseUrl}/oauth/account`]);
  },
);

it('the sessions of a user are listed by device and network, and ended one by one or all others at once', async () => {
  const browsers = await Promise.all([1, 2, 3].map(() => signedIn(server, user)));
  const page = await agent.get('/oauth/account/security');
  expect(page.text).toContain('This browser (Firefox on Linux)');
  expect(page.text).toMatch(/Active today at \d\d:\d\d UTC · signed in today at \d\d:\d\d UTC · IP/);
  expect(page.text).toContain('Unknown browser on an unknown system (2)');
  expect(page.forms.filter(({ action }) => action === '/oauth/account/sessions/end')).toHaveLength(4);
  const stale = await follow(agent, await agent.post('/oauth/account/sessions/end', {}));
  expect(stale.text).toContain('Nothing has been changed yet');
  const after = await press(agent, page, '/oauth/account/sessions/end');
  expect(after.text).toContain('Done. You are still signed in here.');
  expect((await Promise.all(browsers.map(isSignedIn))).filter(Boolean)).toHaveLength(2);
  const others = after.forms.find(
    ({ action, fields }) => action.endsWith('/end') && !('session_id' in fields),
  );
  await agent.post('/oauth/account/sessions/end', others?.fields ?? {});
  const left = await Promise.all([agent, ...browsers].map(isSignedIn));
  expect(left).toEqual([true, false, false, false]);
});

describe.each([
  ['password', 'password'],
  ['payment-password', 'payment_password'],
] as const)('changing the %s', (which, field) => {
  const path = `/oauth/account/${which}`;
  const old = () => (which === 'password' ? user.password : (user.paymentPassword ?? ''));
  const send = async (fields: Record<string, string>) =>
    follow(agent, await agent.submit(await agent.get(path), 'new_password', fields));

  it('requires the old password, ends every other session, and keeps the requesting one', async () => {
    const other = await signedIn(server, user);
    const stranger = await signedIn(server, await server.createUser());
    const page = await send({ [field]: old(), new_password: NEW });
    expect(page.text).toContain('Your new password is saved. You are signed out in every other browser.');
    expect(page.body).toMatch(
      /role="status"(?:(?!<\/div>)[\s\S])+<a href="\/oauth\/account">Connected applications<\/a>/,
    );
    expect(await Promise.all([agent, other, stranger].map(isSignedIn))).toEqual([true, false, true]);
    expect((await send({ [field]: old(), new_password: newSecret() })).page).toBe('password');
    expect((await send({ [field]: NEW, new_password: newSecret() })).page).toBe('security');
    expect((await agent.get('/oauth/account/history')).text).toMatch(/You changed your (payment )?password/);
  });

  it.each([
    ['short', 'The new password needs at least 8 characters.'],
    ['x'.repeat(1001), 'The new password is too long.'],
    ['Password123', 'This password is one of the first that anyone would try.'],
    ['assent 2026!', 'too similar to your login, your name or the name of this service'],
    ['tabs\tand\tbells', 'The new password has characters that aren’t allowed.'],
  ])('refuses a bad new password with an error: %j [ownAccount-1]', async (wanted, sentence) => {
    const page = await send({ [field]: old(), new_password: wanted });
    expect([page.status, page.page]).toEqual([200, 'password']);
    expect(page.text).toContain(sentence);
    expect(page.body).not.toContain(old());
    expect(invalidField(page)).toBe('new_password');
  });
});

it('a user without a payment password sets the first one by entering the password', async () => {
  user = await server.createUser({ paymentPassword: null });
  agent = await signedIn(server, user);
  const page = await agent.get('/oauth/account/payment-password');
  expect((await agent.get('/oauth/account/security')).text).toContain('You have no payment password');
  const { password } = user;
  const send = async (new_password: string) =>
    (await follow(agent, await agent.submit(page, 'new_password', { password, new_password }))).text;
  expect(await send(password)).toContain('Your password and your payment password must be different');
  expect(await send(NEW)).not.toContain('You have no payment password');
});
