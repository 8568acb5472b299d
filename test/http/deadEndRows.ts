import { expect } from 'vitest';
import { type Cause, WAYS_ON, wordsOf } from '../../src/http/browser/deadEnds.ts';
import type { Outcome } from '../../src/http/browser/outcomes.ts';
import type { Texts } from '../../src/languages/languages.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { Agent, type Answer, readAnswer } from '../support/agent.ts';
import { createDatabase } from '../support/database.ts';
import { decide, obtainCode, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { openLine } from '../support/line.ts';
import { converse } from '../support/rawHttp.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { expireCode, setUserStatus } from '../support/state.ts';

// Every dead end: what its page says, where it leads, and how somebody comes to it.

/** A dead end. */
export interface Row {
  readonly cause: string;
  /** The `data-page` of the page that says it. */
  readonly page: 'error' | 'notice' | 'sign-in' | 'payment-password' | 'consent';
  readonly status: number;
  /** What the page says: a heading where it is about nothing else, and sentences. */
  readonly words: (texts: Texts) => readonly string[];
  /** Where it leads on: an address, or the form on the page itself. */
  readonly leads: 'account' | 'request' | 'account, request' | 'itself' | 'form';
  /** The parameter that it names for developers. */
  readonly parameter?: string;
  /** Comes to it with a fresh browser. */
  readonly reach: (browser: Agent, stage: Stage) => Promise<Answer>;
  /** Whether nothing of the request came that says its language. */
  readonly inEnglish?: boolean;
}

export type Stage = Awaited<ReturnType<typeof setStage>>;

export const SHOP = 'Demo Shop';

/** The people and applications of the rows. @param server with MAX_INSTANCES 1 */
export async function setStage(server: TestServer) {
  const shop = await server.createClient({ name: SHOP });
  return {
    server,
    shop,
    limited: await server.createClient({
      name: SHOP,
      allowedRights: ['account-info', 'payment-shop'],
      most: { days: 30, sum: '1000' },
    }),
    anna: await server.createUser({ name: 'Anna', login: 'anna' }),
    boris: await server.createUser({ name: 'Boris', login: 'boris' }),
    /** Who has no payment password. */
    vera: await server.createUser({ name: 'Vera', login: 'vera', paymentPassword: null }),
  };
}

const queryOf = (fields: Record<string, string>) => `/oauth/authorize?${new URLSearchParams(fields)}`;

/** A request of the shop that is refused for what it has. */
const sent =
  (fields: Record<string, string>, encoded = '') =>
  (browser: Agent, { shop }: Stage) =>
    browser.get(queryOf(requestOf(shop, fields)) + encoded);

const follow = (browser: Agent, { location }: Answer) => browser.get(location ?? '');

const SCOPE = { code: 'invalid_scope', parameter: 'scope' };

/** The error pages: by the type, none can be forgotten. */
const ERRORS: Record<
  Cause,
  Omit<Row, 'cause' | 'page' | 'words' | 'leads'> & { code?: string; named?: boolean }
> = {
  unknown_application: {
    status: 400,
    code: 'unauthorized_client',
    named: false,
    reach: sent({ client_id: 'nobody' }),
  },
  no_longer_possible: {
    status: 400,
    code: 'unauthorized_client',
    reach: blockedAtTheLastMoment,
  },
  wrong_return_address: {
    status: 400,
    parameter: 'redirect_uri',
    reach: sent({ redirect_uri: 'https://evil.example/' }),
  },
  missing_parameter: { status: 400, parameter: 'response_type', reach: sent({ response_type: '' }) },
  doubled_parameter: { status: 400, parameter: 'state', reach: sent({ state: '1' }, '&state=2') },
  undecodable_parameter: { status: 400, parameter: 'state', reach: sent({}, '&state=%FF') },
  wrong_parameter: { status: 400, parameter: 'response_type', reach: sent({ response_type: 'token' }) },
  sent_in_two_places: {
    status: 400,
    named: false,
    reach: (browser, { shop }) => browser.post(queryOf(requestOf(shop)), requestOf(shop)),
  },
  too_long: { status: 400, reach: sent({ state: 'x'.repeat(6_000) }) },
  no_rights: { status: 400, ...SCOPE, reach: sent({ scope: '' }) },
  unreadable_rights: { status: 400, ...SCOPE, reach: sent({ scope: 'make-coffee' }) },
  right_not_offered: {
    status: 400,
    ...SCOPE,
    reach: async (browser, stage) => {
      const { catalogue } = stage.server.context;
      const { 'account-info': _left, ...fewer } = catalogue;
      Object.assign(stage.server.context, { catalogue: fewer });
      try {
        return await sent({})(browser, stage);
      } finally {
        Object.assign(stage.server.context, { catalogue });
      }
    },
  },
  right_not_allowed: {
    status: 400,
    ...SCOPE,
    reach: (browser, { limited }) => browser.get(queryOf(requestOf(limited))),
  },
  unclear_target: { status: 400, ...SCOPE, reach: sent({ scope: 'payment.to-pattern("a b")' }) },
  contradiction: { status: 400, ...SCOPE, reach: sent({ scope: 'account-info account-info' }) },
  above_ceiling: {
    status: 400,
    ...SCOPE,
    reach: (browser, { limited }) =>
      browser.get(queryOf(requestOf(limited, { scope: 'payment-shop.limit(30,1001)' }))),
  },
  unreadable: {
    status: 400,
    named: false,
    reach: (browser) => browser.post('/oauth/authorize', '{}', { 'content-type': 'application/json' }),
  },
  notFound: { status: 404, reach: (browser) => browser.get('/nowhere') },
  unreadableAddress: { status: 404, reach: (browser) => browser.get('/%zz') },
  notAllowed: { status: 405, reach: (browser) => browser.get('/consent') },
  brokenForm: {
    status: 400,
    code: 'invalid_request',
    reach: (browser) => browser.post('/consent', { decision: 'allow' }),
  },
  brokenHttp: {
    status: 400,
    code: 'invalid_request',
    reach: ({ headers }, { server }) =>
      raw(server, `what is this?\r\nAccept-Language: ${headers['accept-language']}\r\n\r\n`),
  },
  late: {
    status: 408,
    code: 'invalid_request',
    inEnglish: true,
    reach: (_browser, { server }) => raw(server, 'GET /account HTTP/1.1\r\nHost: x\r\n'),
  },
  ourFault: {
    status: 500,
    reach: (browser, stage) => whileBroken(stage, () => sent({})(browser, stage)),
  },
  unavailable: {
    status: 503,
    reach: (browser, stage) => whileLocked(stage, () => sent({})(browser, stage)),
  },
};

const isAgain = (cause: Cause) => WAYS_ON[cause].next === 'again';

const ERROR_ROWS: Row[] = (Object.keys(ERRORS) as Cause[]).map((cause) => {
  const { code = null, named = true, ...row } = ERRORS[cause];
  const known = {
    cause,
    code: (code ?? 'invalid_request') as never,
    parameter: row.parameter ?? null,
    clientName: named ? SHOP : null,
  };
  return {
    cause,
    page: 'error',
    words: (texts) => {
      const { title, text, fault, next, passOn } = wordsOf(known, texts, { pressed: '', again: '' });
      return [title, text, fault, next, texts.errors.ifAgain, passOn];
    },
    leads: isAgain(cause) ? 'request' : 'account',
    ...row,
  };
});

/** 500 and 503 after a button: what pressing it may have come to is said besides. */
const pressed = (
  cause: string,
  said: keyof Texts['errors']['pressed'],
  leads: Row['leads'],
  reach: Row['reach'],
): Row => ({
  cause,
  page: 'error',
  status: 503,
  words: ({ errors }) => [errors.causes.unavailable.title, errors.pressed[said], errors.next.again()],
  leads,
  reach: (browser, stage) => reach(browser, stage),
});

const PRESSED: Row[] = [
  pressed('unavailable, signing in', 'signIn', 'request', async (browser, stage) => {
    const page = await sent({})(browser, stage);
    const { login, password } = stage.anna;
    return whileLocked(stage, () => browser.submit(page, 'login', { login, password }));
  }),
  pressed('unavailable, Allow or Reject', 'decision', 'request', async (browser, stage) => {
    const page = await reachConsent(browser, requestOf(stage.shop), stage.anna);
    return whileLocked(stage, () => decide(browser, page, 'allow'));
  }),
  pressed('unavailable, Continue', 'paymentPassword', 'request', async (browser, stage) => {
    await signIn(browser, stage.anna.login, stage.anna.password);
    const page = await browser.get(queryOf(requestOf(stage.shop, { scope: 'payment-shop' })));
    return whileLocked(
      stage,
      () => browser.submit(page, 'payment_password', { payment_password: 'x' }),
      'sessions',
    );
  }),
  pressed('unavailable, Disconnect', 'disconnect', 'account', async (browser, stage) => {
    await obtainCode(browser, requestOf(stage.shop), stage.anna);
    const account = await browser.get('/account');
    const form = account.forms.find(({ action }) => action === '/account/disconnect');
    return whileLocked(stage, () => browser.post('/account/disconnect', form?.fields ?? {}), 'sessions');
  }),
  pressed('unavailable, Stop everything', 'stop', 'account', async (browser, stage) => {
    await reachConsent(browser, requestOf(stage.shop), stage.anna);
    const account = await browser.get('/account');
    const form = account.forms.find(({ action }) => action === '/account/stop');
    return whileLocked(stage, () => browser.post('/account/stop', form?.fields ?? {}), 'sessions');
  }),
  pressed('unavailable, Sign out', 'signOut', 'account', async (browser, stage) => {
    await reachConsent(browser, requestOf(stage.shop), stage.anna);
    const account = await browser.get('/account');
    const form = account.forms.find(({ action }) => action === '/sign-out');
    return whileLocked(stage, () => browser.post('/sign-out', form?.fields ?? {}), 'sessions');
  }),
];

const NOTICES: Row[] = [
  {
    cause: 'embedded',
    page: 'notice',
    status: 403,
    words: ({ notices }) => [notices.embedded.title, notices.embedded.text, notices.newTab],
    leads: 'itself',
    reach: (browser, { shop }) => browser.get(queryOf(requestOf(shop)), { 'sec-fetch-dest': 'iframe' }),
  },
  {
    cause: 'too many connections',
    page: 'notice',
    status: 409,
    words: ({ notices }) => [notices.full.title, notices.full.text(SHOP)],
    leads: 'account, request',
    reach: async (browser, { shop, vera }) => {
      await obtainCode(browser, requestOf(shop, { instance_name: 'first' }), vera);
      return browser.get(queryOf(requestOf(shop)));
    },
  },
  {
    cause: 'too many decisions',
    page: 'notice',
    status: 429,
    words: ({ notices }) => [notices.tooMany.title, notices.tooMany.text],
    leads: 'request',
    reach: async (browser, { shop, server, anna }) => {
      const page = await reachConsent(browser, requestOf(shop), anna);
      const { pool } = server.database;
      const count = 'update users set decisions = $2, decided_at = clock_timestamp() where user_id = $1';
      await pool.query(count, [anna.userId, 2_000]);
      const answer = await decide(browser, page, 'allow');
      await pool.query(count, [anna.userId, 0]);
      return answer;
    },
  },
  {
    cause: 'too many decisions before Stop everything',
    page: 'notice',
    status: 429,
    words: ({ notices }) => [notices.tooMany.title, notices.tooMany.stop],
    leads: 'account',
    reach: async (browser, { shop, server, anna }) => {
      await reachConsent(browser, requestOf(shop), anna);
      const account = await browser.get('/account');
      const form = account.forms.find(({ action }) => action === '/account/stop');
      const { pool } = server.database;
      const count = 'update users set decisions = $2, decided_at = clock_timestamp() where user_id = $1';
      await pool.query(count, [anna.userId, 2_000]);
      const answer = await browser.post('/account/stop', form?.fields ?? {});
      await pool.query(count, [anna.userId, 0]);
      return answer;
    },
  },
  {
    cause: 'Allow on a page whose code is used or too old',
    page: 'notice',
    status: 200,
    words: ({ notices }) => [notices.allowed.title, notices.allowed.spent(SHOP)],
    leads: 'account',
    reach: async (browser, { shop, server, anna }) => {
      const page = await reachConsent(browser, requestOf(shop), anna);
      await decide(browser, page, 'allow');
      await expireCode(server, shop);
      return decide(browser, page, 'allow');
    },
  },
  {
    cause: 'Reject after Allow on the same page',
    page: 'notice',
    status: 200,
    words: ({ notices }) => [notices.allowed.title, notices.allowed.allowed(SHOP)],
    leads: 'account',
    reach: async (browser, { shop, anna }) => {
      const page = await reachConsent(browser, requestOf(shop), anna);
      await decide(browser, page, 'allow');
      return decide(browser, page, 'reject');
    },
  },
];

const SPENDING = { scope: 'payment-shop' };

/** What came of the form before, on the page of its request. */
const OUTCOMES: Record<
  Outcome,
  Pick<Row, 'reach'> & Partial<Pick<Row, 'page'>> & { cause: string; who: 'Anna' | 'Boris' }
> = {
  not_signed_in: {
    cause: 'a sign-in form that is out of date, when somebody else is signed in',
    who: 'Boris',
    reach: async (browser, stage) => {
      const page = await sent({})(browser, stage);
      browser.cookies.delete('assent_visit');
      const { login, password } = stage.anna;
      return asBoris(browser, stage, () => browser.submit(page, 'login', { login, password }));
    },
  },
  not_confirmed: {
    cause: 'a payment password typed when somebody else is signed in',
    page: 'payment-password',
    who: 'Boris',
    reach: async (browser, stage) => {
      const { shop, anna } = stage;
      await reachConsent(browser, requestOf(shop), anna);
      const page = await browser.get(queryOf(requestOf(shop, SPENDING)));
      const typed = { payment_password: anna.paymentPassword ?? '' };
      return asBoris(browser, stage, () => browser.submit(page, 'payment_password', typed));
    },
  },
  not_decided: {
    cause: 'a decision that is out of date, or taken when somebody else is signed in',
    who: 'Boris',
    reach: async (browser, stage) => {
      const page = await reachConsent(browser, requestOf(stage.shop), stage.anna);
      return asBoris(browser, stage, () => decide(browser, page, 'allow'));
    },
  },
  not_signed_out: {
    cause: 'signing out on a page that is out of date',
    who: 'Boris',
    reach: async (browser, stage) => {
      const page = await reachConsent(browser, requestOf(stage.shop), stage.anna);
      const form = page.forms.find(({ action }) => action === '/sign-out');
      return asBoris(browser, stage, () => browser.post('/sign-out', form?.fields ?? {}));
    },
  },
  allowed: {
    cause: 'Back after Allow',
    who: 'Anna',
    reach: async (browser, { shop, anna }) => {
      await obtainCode(browser, requestOf(shop), anna);
      return browser.get(queryOf(requestOf(shop)));
    },
  },
  rejected: {
    cause: 'Back after Reject',
    who: 'Anna',
    reach: async (browser, { shop, anna }) => {
      await decide(browser, await reachConsent(browser, requestOf(shop), anna), 'reject');
      return browser.get(queryOf(requestOf(shop)));
    },
  },
};

const OUTCOME_ROWS: Row[] = (Object.keys(OUTCOMES) as Outcome[]).map((outcome) => {
  const { cause, who, reach, page = 'consent' } = OUTCOMES[outcome];
  const words = ({ outcomes }: Texts) => [outcomes.on[outcome](SHOP, who, who.toLowerCase())];
  return { cause, page, status: 200, words, leads: 'form', reach };
});

const SIGN_IN: Row[] = [
  {
    cause: 'a wrong login or password',
    page: 'sign-in',
    status: 422,
    words: ({ signIn: { wrong } }) => [wrong],
    leads: 'form',
    reach: (browser) => signIn(browser, 'nobody', 'wrong'),
  },
  {
    cause: 'too many tries',
    page: 'sign-in',
    status: 429,
    words: ({ tooManyTries, wait }) => [tooManyTries(wait.minutes(3), '14:05 UTC')],
    leads: 'form',
    reach: async (browser, { server, boris: { login } }) => {
      for (let tries = 0; tries < 5; tries += 1) await signIn(browser, login, 'wrong');
      const { pool } = server.database;
      await pool.query(
        `update throttles set free_at = clock_timestamp() + interval '3 minutes' where free_at > counted_at`,
      );
      const answer = await signIn(browser, login, 'wrong');
      await pool.query('delete from throttles');
      return answer;
    },
  },
  {
    cause: 'a sign-in form that is out of date, or whose cookie is lost',
    page: 'sign-in',
    status: 200,
    words: ({ outcomes }) => [outcomes.not_signed_in],
    leads: 'form',
    reach: async (browser, stage) => {
      const page = await sent({})(browser, stage);
      browser.cookies.clear();
      const { login, password } = stage.anna;
      const answer = await follow(browser, await browser.submit(page, 'login', { login, password }));
      expect(answer.body).not.toContain(password);
      return answer;
    },
  },
  {
    cause: 'cookies are switched off',
    page: 'sign-in',
    status: 200,
    words: ({ signIn: { cookiesOff } }) => [cookiesOff('localhost')],
    leads: 'form',
    reach: async (browser, stage) => {
      const page = await sent({})(browser, stage);
      browser.cookies.clear();
      const { login, password } = stage.anna;
      const answer = await browser.submit(page, 'login', { login, password });
      browser.cookies.clear();
      return follow(browser, answer);
    },
  },
  {
    cause: 'an answer when the session is over',
    page: 'sign-in',
    status: 200,
    words: ({ outcomes }) => [outcomes.sessionOver],
    leads: 'form',
    reach: async (browser, { shop, server, anna }) => {
      const page = await reachConsent(browser, requestOf(shop), anna);
      await server.database.pool.query('delete from sessions where user_id = $1', [anna.userId]);
      return follow(browser, await decide(browser, page, 'allow'));
    },
  },
  {
    cause: 'a page when the session is over',
    page: 'sign-in',
    status: 200,
    words: ({ signIn: { sessionOver } }) => [sessionOver],
    leads: 'form',
    reach: async (browser, { server, shop, anna }) => {
      await reachConsent(browser, requestOf(shop), anna);
      await server.database.pool.query('delete from sessions where user_id = $1', [anna.userId]);
      return browser.get('/account');
    },
  },
];

export const ROWS: readonly Row[] = [...ERROR_ROWS, ...PRESSED, ...NOTICES, ...SIGN_IN, ...OUTCOME_ROWS];

/** Runs `work` while nobody can read a table: each question waits for the lock until that is given up. */
async function whileLocked(
  { server }: Stage,
  work: () => Promise<Answer>,
  table = 'clients',
): Promise<Answer> {
  const holder = await server.database.pool.connect();
  try {
    await holder.query(`begin; lock table ${table}`);
    return await work();
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

/** Runs `work` while the applications can't be found at all, which is a fault of ours. */
async function whileBroken({ server }: Stage, work: () => Promise<Answer>): Promise<Answer> {
  const { pool } = server.database;
  await pool.query('alter table clients rename to clients_elsewhere');
  try {
    return await work();
  } finally {
    await pool.query('alter table clients_elsewhere rename to clients');
  }
}

/** Signs Boris in, as in another tab, then sends the form and follows it. */
async function asBoris(browser: Agent, { boris, shop }: Stage, send: () => Promise<Answer>): Promise<Answer> {
  const tab = new Agent(browser.baseUrl, browser.headers);
  await reachConsent(tab, requestOf(shop), boris); // it asks again while too many passwords are checked
  browser.cookies.set('assent_session', tab.cookies.get('assent_session') ?? '');
  const answer = await send();
  expect(answer.status).toBe(303);
  return follow(browser, answer);
}

/** The user is blocked after the form was read, before the decision is written. */
async function blockedAtTheLastMoment({ headers }: Agent): Promise<Answer> {
  const [line, database] = [await openLine(), await createDatabase()];
  const pool = openDatabase(line.url(database));
  const server = await startServer({ database: { ...database, pool } });
  try {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl, headers);
    const consent = await reachConsent(agent, requestOf(client), user);
    line.holdBack(['grant-approve']);
    const answer = decide(agent, consent, 'allow');
    await expect.poll(line.held).toBe(1);
    await setUserStatus({ ...server, database }, user.login, 'blocked');
    await line.letThrough();
    return await answer;
  } finally {
    line.close();
    await server.close();
    await pool.end();
    await database.drop();
  }
}

/** Sends what is no request. */
async function raw({ baseUrl }: TestServer, bytes: string): Promise<Answer> {
  const { answers } = await converse(baseUrl, bytes);
  const [answer] = answers;
  const reference = answer?.headers.get('x-request-id')?.[0] ?? '';
  const init = { status: answer?.status ?? 0, headers: { 'x-request-id': reference } };
  return readAnswer(new Response(answer?.body ?? '', init));
}
