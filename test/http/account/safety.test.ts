import { beforeEach, describe, expect, it } from 'vitest';
import { createStopToken, stopEverything } from '../../../src/flows/account/disconnect.ts';
import {
  actorsAt,
  follow,
  insertGrants,
  isSignedIn,
  press,
  sessionOf,
  signedIn,
} from '../../support/account.ts';
import { introspect, obtainCode, obtainToken, requestOf, signIn } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { CALLER, type TestClient, useServer } from '../../support/server.ts';

const server = await useServer();
const { pool } = server.database;
const resource = await server.createResource();

let { client, user, agent } = await actorsAt(server, { name: 'Corner Shop' });

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server, { name: 'Corner Shop' }));
  await signIn(agent, user.login, user.password);
});

const PAGES = ['/oauth/account', '/oauth/account/security'];
const SET = 'We set a new password for you';
const USED = 'Your payment password was used in another browser';

const linksOf = (body: string) =>
  /<section class="warnings"[\s\S]+?<\/section>/.exec(body)?.[0].match(/(?<=href=")[^"]+/g);

/** Expects a warning on both pages: the event, one line of facts, the question, both answers, and the link of the second. */
async function expectTold(event: string, network: string): Promise<void> {
  const facts = `\\d+ \\w+ \\d{4} at \\d\\d:\\d\\d UTC · ${network}`;
  const answers = 'Yes, (this was me|I did) No, secure my account';
  for (const path of PAGES) {
    const { body, text } = await agent.get(path);
    expect(text).toMatch(new RegExp(`${event} ?${facts} Was this you\\? ${answers}`));
    expect(linksOf(body)).toEqual(['/oauth/account/secure']);
  }
}

async function isSaid(by: Agent, words: string): Promise<boolean | undefined> {
  const pages = await Promise.all(PAGES.map((path) => by.get(path)));
  const [onOne, onOther] = pages.map(({ text }) => text.includes(words));
  expect(onOne).toBe(onOther);
  return onOne;
}

type Noted = { count?: number; days?: number; by?: TestClient; from?: string };

/** Notes events of the user: the newest `days` ago, the others a minute apart before it, approvals in another browser. */
const note = (kind: string, { count = 1, days = 0, by, from = '203.0.113.77' }: Noted = {}) =>
  pool.query(
    `insert into audit_events (at, kind, user_id, client_id, address, detail)
     select now() - make_interval(days => $5, mins => n - 1), $1, $2, $3, $4,
            case when $1 like 'approved%' then '{"confirmed_by": "payment_password", "session": "another"}'::jsonb end
       from generate_series(1, $6::int) n`,
    [kind, user.userId, by?.clientId, from, days, count],
  );

describe('a security warning', () => {
  it('names the use of the payment password in another browser, with time and network [safety-1]', async () => {
    const spending = requestOf(client, { scope: 'payment-shop' });
    await obtainCode(agent, spending, user);
    expect(await isSaid(agent, USED)).toBe(false);
    const elsewhere = new Agent(server.baseUrl);
    elsewhere.cookies.set('assent_device', agent.cookies.get('assent_device') ?? '');
    await obtainCode(elsewhere, spending, user);
    await expectTold(`${USED}, for Corner Shop`, 'IP address 127.0.0.x');
  });

  it.each(PAGES)('is hidden only in the browser that dismissed it: on %s', async (path) => {
    const other = await signedIn(server, user);
    await note('replayed', { by: client });
    const after = await press(agent, await agent.get(path), '/oauth/account/warnings');
    expect(after.page).toBe(path === '/oauth/account' ? 'account' : 'security');
    expect([await isSaid(agent, 'used twice'), await isSaid(other, 'used twice')]).toEqual([false, true]);
    await note('user_password_set');
    expect([await isSaid(agent, SET), await isSaid(agent, 'used twice')]).toEqual([true, false]);
  });
});

it.each(PAGES)(
  'several warnings are shown as one box and a collapsed list, each with its own button, on %s',
  async (path) => {
    const formsOf = async (by: Agent) =>
      (await by.get(path)).forms.filter(({ action }) => action === '/oauth/account/warnings');
    const afterPressing = async (by: Agent, which: 0 | 1) => {
      const { fields = {} } = (await formsOf(by))[which] ?? {};
      const { text } = await follow(by, await by.post('/oauth/account/warnings', fields));
      return [SET, 'used twice', USED].map((event) => text.includes(event));
    };
    await note('approved', { days: 2, by: client });
    await note('replayed', { days: 1, by: client });
    await note('user_password_set');
    const { body, text } = await agent.get(path);
    expect(text).toMatch(/2 more alerts .+ Do you recognise all of these\? Yes, all of them No, secure/);
    expect(await formsOf(agent)).toHaveLength(2);
    expect(linksOf(body)).toEqual(['/oauth/account/secure', '/oauth/account/secure']);
    expect(await afterPressing(agent, 0)).toEqual([false, true, true]);
    const other = await signedIn(server, user);
    expect(await afterPressing(other, 1)).toEqual([true, false, false]);
  },
);

const MORE = 'There is more in your history.';

describe('an older warning', () => {
  it('stays visible after more password guesses than the page reads', async () => {
    await note('approved', { days: 1, by: client });
    await note('password_guessed', { count: 201 });
    expect(await isSaid(agent, `${USED}, for Corner Shop`)).toBe(true);
  });

  it('stays visible despite frequent approvals of another application, shown as a count', async () => {
    const harmless = await server.createClient({ name: 'Harmless' });
    await note('approved', { days: 1, by: client });
    await note('approved', { count: 50, by: harmless });
    const { text } = await agent.get('/oauth/account');
    expect(text).toContain(`${USED}, for Corner Shop`);
    expect(text).toContain('50 times since ');
    expect(text).not.toContain(MORE);
    await note('approved', { count: 300, by: harmless });
    expect((await agent.get('/oauth/account')).text).toContain(MORE);
    const after = await press(agent, await agent.get('/oauth/account'), '/oauth/account/warnings');
    expect(after.text).toContain(`${USED}, for Corner Shop`);
  });

  it('stays visible after uses of the payment password in many networks [safety-2]', async () => {
    await note('replayed', { days: 1, by: client });
    for (let n = 1; n <= 12; n += 1) await note('approved', { by: client, from: `198.51.${n}.7` });
    const { text } = await agent.get('/oauth/account');
    expect(text).toContain('A one-time code for Corner Shop was used twice');
    expect(text.match(/was used in another browser/g)).toHaveLength(9);
    expect(text).toContain(MORE);
  });
});

describe('a sign-in', () => {
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
  const says = (by: Agent) => isSaid(by, 'New sign-in with');

  it('from an unknown browser is reported in the other browsers, with time and network', async () => {
    expect(await says(agent)).toBe(false);
    await signedIn(server, user, { 'user-agent': FIREFOX });
    await expectTold('New sign-in with Firefox on Linux', 'IP address 127.0.0.x');
  });

  it('is never reported in its own browser, even in a later session', async () => {
    const [other, own] = [await server.createUser(), new Agent(server.baseUrl)];
    for (const end of ['sign-out', 'loss', 'another user']) {
      await signIn(own, other.login, other.password);
      expect(await says(own)).toBe(false);
      if (end === 'sign-out') await press(own, await own.get('/oauth/account'), '/oauth/sign-out');
      own.cookies.delete('assent_session');
      if (end === 'another user') await signIn(own, user.login, user.password);
      own.cookies.delete('assent_session');
    }
    await signIn(own, other.login, other.password);
    expect(await says(own)).toBe(false);
  });

  it('from a known browser is not reported', async () => {
    const known = await signedIn(server, user);
    await press(agent, await agent.get('/oauth/account'), '/oauth/account/warnings');
    known.cookies.delete('assent_session');
    await signIn(known, user.login, user.password);
    expect(await says(agent)).toBe(false);
  });
});

const ACTION = '/oauth/account/stop';

describe('“Stop everything”', () => {
  it('disconnects every application, signs out every other browser, and audits both', async () => {
    const others = [await signedIn(server, user), await signedIn(server, user)];
    const clients = [client, await server.createClient(), await server.createClient()];
    const tokens = await Promise.all(clients.map((one) => obtainToken(agent, one, user)));
    await insertGrants(server, { user, client, count: 2_000 });
    const another = await server.createUser();
    const stranger = await signedIn(server, another);
    const kept = await obtainToken(stranger, client, another);
    const after = await press(agent, await agent.get(ACTION), ACTION);
    expect(after.text).toContain('Everything is stopped: no application is connected');
    for (const token of tokens) expect(await introspect(server, resource, token)).toEqual({ active: false });
    expect(await introspect(server, resource, kept)).toMatchObject({ active: true });
    const signedInStill = await Promise.all([agent, ...others, stranger].map(isSignedIn));
    expect(signedInStill).toEqual([true, false, false, true]);
    const { rows } = await pool.query(
      `select kind, count(*)::int from audit_events
        where user_id = $1 and kind in ('revoked_by_user', 'other_sessions_ended') and address is not null and reference is not null
        group by kind order by kind`,
      [user.userId],
    );
    expect(rows).toEqual([
      { kind: 'other_sessions_ended', count: 1 },
      { kind: 'revoked_by_user', count: 2_003 },
    ]);
  });

  it('dismisses every warning in its browser, and none in another one', async () => {
    await note('replayed', { by: client });
    await note('user_password_set');
    const stop = await agent.get(ACTION);
    expect(await isSaid(agent, SET)).toBe(true);
    expect(linksOf((await press(agent, stop, ACTION)).body)).toBeUndefined();
    expect(await isSaid(agent, SET)).toBe(false);
    expect(await isSaid(await signedIn(server, user), 'used twice')).toBe(true);
    await note('user_password_set');
    expect([await isSaid(agent, SET), await isSaid(agent, 'used twice')]).toEqual([true, false]);
  });

  it('says that not everything is stopped while an application or a session is left', async () => {
    await obtainToken(agent, client, user);
    const session = await sessionOf(server, agent);
    const late = { ...CALLER, decideBy: performance.now() };
    const stopped = stopEverything(server.context, session, createStopToken(server.context, session), late);
    await expect(stopped).rejects.toThrow('after its deadline');
    expect((await agent.get('/oauth/account')).text).not.toContain('stopped');
    expect((await press(agent, await agent.get(ACTION), ACTION)).text).toContain('Everything is stopped');
    await signedIn(server, user);
    const left = await agent.get('/oauth/account');
    expect(left.text).toContain('Not everything is stopped yet. Press “Stop everything” again.');
  });

  it('signs out other browsers, but disconnects no application yet, after too many decisions [safety-3]', async () => {
    const thief = await signedIn(server, user);
    await obtainToken(agent, client, user);
    const decided = 'update users set decisions = 2000, decided_at = clock_timestamp() where user_id = $1';
    await pool.query(decided, [user.userId]);
    const page = await press(agent, await agent.get(ACTION), ACTION);
    expect([page.status, page.page, page.headers.get('retry-after')]).toEqual([429, 'stop', '60']);
    expect(page.text).toContain('your applications are not disconnected yet');
    expect(await isSignedIn(thief)).toBe(false);
    expect((await agent.get('/oauth/account')).text).toContain('Corner Shop');
  });
});
