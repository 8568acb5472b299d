import { expect } from 'vitest';
import type { OutcomeMessageKey } from '../../src/http/browser/outcomes.ts';
import { type Cause, errorPageTexts } from '../../src/http/pages/errorPage.ts';
import { type Texts, withValues } from '../../src/languages/languages.ts';
import type { OAuthErrorCode } from '../../src/rules/common/refusals.ts';
import { fieldsFor, follow, whileLocked as whileTableLocked } from '../support/account.ts';
import {
  confirm,
  decide,
  leadsTo,
  linkTo,
  obtainCode,
  pageAfter,
  press,
  reachConsent,
  requestOf,
  signIn,
} from '../support/flow.ts';
import { Agent, type Answer, readAnswer } from '../support/http/agent.ts';
import { converse } from '../support/http/rawHttp.ts';
import { doingBefore } from '../support/postgres/intercept.ts';
import { type ServerOptions, startServer, type TestServer, type TestUser } from '../support/server.ts';
import { expireCode, setUserStatus } from '../support/state.ts';
import { goOn, leaveFor, openWallet, passWallet, type Wallet } from '../support/wallet.ts';
import type { Page } from './rendering.ts';

// Every dead end: its sample, and how the front door leads there.

export type Reach = (browser: Agent, stage: Stage) => Promise<Answer>;

type Stage = Awaited<ReturnType<typeof setStage>>;

const SHOP = 'Demo Shop';

/** The users and applications of the dead ends, named as in the samples. @param server with MAX_INSTANCES 2 */
export async function setStage(server: TestServer) {
  return {
    server,
    shop: await server.createClient({ name: SHOP }),
    limited: await server.createClient({
      name: SHOP,
      allowedRights: ['account-info', 'payment-shop'],
      most: { days: 30, sum: '1000' },
    }),
    anna: await server.createUser({ name: 'Anna Petrova', login: 'anna' }),
    boris: await server.createUser({ name: 'Boris', login: 'boris' }),
    vera: await server.createUser({ name: 'Vera', login: 'vera', paymentPassword: null }),
  };
}

/** An authorization request of the shop with other fields. @param encoded added as it is */
export const sent =
  (fields: Record<string, string>, encoded = ''): Reach =>
  (browser, { shop }) =>
    browser.get(linkTo(requestOf(shop, fields)) + encoded);

const onConsent =
  (name: 'anna' | 'boris', go: (page: Answer, browser: Agent, stage: Stage) => Promise<Answer>): Reach =>
  async (browser, stage) =>
    go(await reachConsent(browser, requestOf(stage.shop), stage[name]), browser, stage);

const fillIn = (browser: Agent, page: Answer, { login, password }: TestUser) =>
  browser.submit(page, 'login', { login, password });

const amid =
  (around: Around, reach: Reach): Reach =>
  (browser, stage) =>
    around(stage, () => reach(browser, stage));

/** Posts the form for `action` on an account page of Anna's, who has two connections and a further session. */
const pressOn =
  (page: string, action: string, around: Around): Reach =>
  async (browser, stage) => {
    const { shop, anna } = stage;
    await obtainCode(new Agent(browser.baseUrl), requestOf(shop, { instance_name: 'tablet' }), anna);
    await obtainCode(browser, requestOf(shop), anna);
    const fields = { ...fieldsFor(await browser.get(page), action), password: 'x', new_password: 'x' };
    return pageAfter(browser, await around(stage, () => browser.post(action, fields)));
  };

type Around = (stage: Stage, work: () => Promise<Answer>) => Promise<Answer>;

const whileLocked =
  (table: string): Around =>
  ({ server }, work) =>
    whileTableLocked(server, table, work);

const whileBroken: Around = async ({ server }, work) => {
  const { pool } = server.database;
  await pool.query('alter table clients rename to clients_elsewhere');
  try {
    return await work();
  } finally {
    await pool.query('alter table clients_elsewhere rename to clients');
  }
};

const afterManyDecisions: Around = async ({ server, anna }, work) => {
  const { pool } = server.database;
  const count = 'update users set decisions = $2, decided_at = clock_timestamp() where user_id = $1';
  await pool.query(count, [anna.userId, 2_000]);
  const answer = await work();
  await pool.query(count, [anna.userId, 0]);
  return answer;
};

/** Anna is signed in meanwhile, as in another tab. The answer is followed. */
async function asAnna(browser: Agent, { anna, shop }: Stage, send: () => Promise<Answer>): Promise<Answer> {
  const tab = new Agent(browser.baseUrl, browser.headers);
  await reachConsent(tab, requestOf(shop), anna); // it asks again while too many passwords are checked
  browser.cookies.set('assent_session', tab.cookies.get('assent_session') ?? '');
  return follow(browser, await send());
}

async function endSessions({ server, anna }: Stage): Promise<void> {
  await server.database.pool.query('delete from sessions where user_id = $1', [anna.userId]);
}

/** The user is blocked after the form was read, before the decision is written. */
const blockedAtTheLastMoment: Reach = async (browser, stage) => {
  const { database } = stage.server;
  const user = await stage.server.createUser();
  const block = () => setUserStatus(stage.server, user.login, 'blocked');
  const pool = doingBefore(database.pool, 'grant-approve', block);
  const there = at({ database: { ...database, pool } }, async (agent) =>
    decide(agent, await reachConsent(agent, requestOf(stage.shop), user), 'allow'),
  );
  return there(browser, stage);
};

const at =
  (options: ServerOptions, reach: (browser: Agent, server: TestServer) => Promise<Answer>): Reach =>
  async ({ headers }) => {
    const server = await startServer(options);
    try {
      return await reach(new Agent(server.baseUrl, headers), server);
    } finally {
      await server.close();
    }
  };

/** The same at a server whose users sign in at a wallet, which also confirms payments. */
const atWallet =
  (reach: (browser: Agent, wallet: Wallet, server: TestServer) => Promise<Answer>): Reach =>
  async (browser, stage) => {
    const wallet = await openWallet({ paymentAcr: 'payment' });
    try {
      const there = at({ provider: wallet.settings }, (agent, server) => reach(agent, wallet, server));
      return await there(browser, stage);
    } finally {
      await wallet.down();
    }
  };

/** A signed-in user at a request for a right until this day, where LIMITS has that. */
const asking = (until: string): Reach =>
  at({ furtherLimits: ['until'] }, async (browser, server) => {
    const { login, password } = await server.createUser();
    await signIn(browser, login, password);
    const client = await server.createClient({ name: SHOP });
    return browser.get(linkTo(requestOf(client, { scope: `payment-shop.limit(7,5).until(${until})` })));
  });

type Change = Partial<Pick<Wallet, 'user' | 'replaced'>>;

const signingIn = (change: Change): Reach =>
  atWallet((browser, wallet) => passWallet(Object.assign(wallet, change), browser, '/oauth/account'));

const confirming = (change: Change): Reach =>
  atWallet(async (browser, wallet, server) => {
    await goOn(wallet, browser, '/oauth/account');
    const asked = linkTo(requestOf(await server.createClient(), { scope: 'payment-shop' }));
    const pressed = await press(browser, await browser.get(asked), 'allow');
    return passWallet(Object.assign(wallet, change), browser, pressed);
  });

async function raw({ baseUrl }: TestServer, bytes: string): Promise<Answer> {
  const { answers } = await converse(baseUrl, bytes);
  const [answer] = answers;
  const reference = answer?.headers.get('x-request-id')?.[0] ?? '';
  const init = { status: answer?.status ?? 0, headers: { 'x-request-id': reference } };
  return readAnswer(new Response(answer?.body ?? '', init));
}

/** A page on which a user can't go on as intended. */
export interface DeadEnd {
  readonly name: string;
  readonly status: number;
  readonly reach: Reach;
  /** Where the sample's note is over the form of another page. */
  readonly page?: Page['name'];
}

interface WithSample extends DeadEnd {
  readonly sample: (texts: Texts) => Page<'error' | 'notice'>;
}

/** The code of the contract that stands on the page. */
const INVALID = { code: 'invalid_request' } as const;
const SCOPE = { code: 'invalid_scope', parameter: 'scope' } as const;

const SPENDING = { scope: 'payment-shop' };
/** The wallet's answer when its user presses Cancel. */
const CANCELLED = { replaced: { callback: { code: undefined, error: 'access_denied' } } };
/** No trusted part of the request is known. */
const AT_WALLET = { nameless: true, again: '/oauth/sign-in' };

/** The type requires every error page. */
const ERRORS: Record<
  Cause,
  Pick<DeadEnd, 'reach'> & {
    readonly status?: number;
    readonly code?: Exclude<OAuthErrorCode, 'invalid_grant'>;
    readonly parameter?: string;
    readonly nameless?: boolean;
    /** Where its request stands, if not at the front door. */
    readonly again?: string;
    readonly pressed?: string;
  }
> = {
  unknown_application: { code: 'unauthorized_client', nameless: true, reach: sent({ client_id: 'x' }) },
  no_longer_possible: { code: 'unauthorized_client', reach: blockedAtTheLastMoment },
  wrong_return_address: { parameter: 'redirect_uri', reach: sent({ redirect_uri: 'https://evil.example/' }) },
  missing_parameter: { parameter: 'response_type', reach: sent({ response_type: '' }) },
  wrong_parameter: { parameter: 'response_type', reach: sent({ response_type: 'token' }) },
  too_long: { reach: sent({ state: 'x'.repeat(6_000) }) },
  no_rights: { ...SCOPE, reach: sent({ scope: '' }) },
  unreadable_rights: { ...SCOPE, reach: sent({ scope: 'make coffee()' }) },
  right_not_allowed: { ...SCOPE, reach: (browser, { limited }) => browser.get(linkTo(requestOf(limited))) },
  unclear_target: { ...SCOPE, reach: sent({ scope: 'payment.to-pattern("a b")' }) },
  contradiction: { ...SCOPE, reach: sent({ scope: 'account-info account-info' }) },
  ended_right: { ...SCOPE, reach: asking('2026-06-30') },
  right_outlives_token: { ...SCOPE, reach: asking('2999-12-31') },
  above_ceiling: {
    ...SCOPE,
    reach: (browser, { limited }) =>
      browser.get(linkTo(requestOf(limited, { scope: 'payment-shop.limit(30,1001)' }))),
  },
  unreadable: {
    nameless: true,
    reach: (browser) => browser.post('/oauth/authorize', '{}', { 'content-type': 'application/json' }),
  },
  sign_in_lost: {
    ...AT_WALLET,
    reach: atWallet(async (browser, wallet) => {
      await leaveFor(wallet, browser, '/oauth/account');
      return browser.get('/oauth/sign-in/callback');
    }),
  },
  sign_in_no_cookies: { ...AT_WALLET, reach: atWallet((browser) => browser.get('/oauth/sign-in/callback')) },
  sign_in_wait: {
    ...AT_WALLET,
    status: 429,
    reach: atWallet(async (browser, wallet) => {
      wallet.replaced = { token: { status: 400, body: '{"error":"invalid_grant"}' } };
      for (;;) {
        const answer = await passWallet(wallet, browser, '/oauth/account');
        if (answer.status !== 400) return answer;
      }
    }),
  },
  sign_in_failed: { ...AT_WALLET, reach: signingIn({ replaced: { claims: { nonce: 'another' } } }) },
  sign_in_other_user: { ...AT_WALLET, reach: confirming({ user: { sub: 'another' } }) },
  sign_in_refused: { ...AT_WALLET, reach: signingIn({ user: { sub: 'x'.repeat(256) } }) },
  providerAway: {
    status: 503,
    again: '/oauth/sign-in',
    pressed: '/oauth/sign-in',
    reach: atWallet(async (browser, wallet) => {
      await wallet.down();
      const answer = await browser.get('/oauth/sign-in');
      await wallet.up();
      return answer;
    }),
  },
  notFound: { status: 404, reach: (browser) => browser.get('/nowhere') },
  notAllowed: { ...INVALID, status: 405, reach: (browser) => browser.get('/oauth/consent') },
  broken: {
    ...INVALID,
    reach: ({ headers }, { server }) =>
      raw(server, `what is this?\r\nAccept-Language: ${headers['accept-language']}\r\n\r\n`),
  },
  ourFault: { status: 500, reach: amid(whileBroken, sent({})) },
  unavailable: { status: 503, reach: amid(whileLocked('clients'), sent({})) },
};

const REQUEST = '/oauth/authorize?client_id=x';

/** The page of an error, as a sample. @param pressed the path of the form that was sent @param again where it stands */
export const errorSample =
  (cause: Cause, pressed = ERRORS[cause].pressed ?? '', again = ERRORS[cause].again ?? REQUEST) =>
  (texts: Texts): Page<'error'> => {
    const ofRequest = Object.hasOwn(texts.errors.reasons, cause) ? INVALID.code : null;
    const { code = ofRequest, parameter = null, nameless = false } = ERRORS[cause];
    const known = { cause, code, clientName: nameless ? null : SHOP, parameter };
    const words = errorPageTexts(known, texts, { pressed, again });
    return { name: 'error', ...words, code, reference: 'k3v9-7qxp', explained: null };
  };

const ERROR_PAGES: WithSample[] = (Object.keys(ERRORS) as Cause[]).map((cause) => {
  const { status = 400, reach } = ERRORS[cause];
  return { name: `error: ${cause}`, status, reach, sample: errorSample(cause) };
});

/** 503 after a button: the page also has the possible outcomes of pressing it. */
const unavailable = (action: string, reach: Reach, again?: string): WithSample => ({
  name: `error after ${action}`,
  status: 503,
  reach,
  sample: errorSample('unavailable', action, again),
});

const unavailableOn = (page: string, action: string) =>
  unavailable(action, pressOn(page, action, whileLocked('sessions')), '/oauth/account');

const PRESSED: WithSample[] = [
  unavailable('/oauth/sign-in', async (browser, stage) => {
    const page = await sent({})(browser, stage);
    return whileLocked('clients')(stage, () => fillIn(browser, page, stage.anna));
  }),
  unavailable(
    '/oauth/consent',
    onConsent('anna', (page, browser, stage) =>
      whileLocked('clients')(stage, () => decide(browser, page, 'allow')),
    ),
  ),
  unavailable('/oauth/confirm', async (browser, stage) => {
    const consent = await reachConsent(browser, requestOf(stage.shop, SPENDING), stage.anna);
    const page = await follow(browser, await press(browser, consent, 'allow'));
    return whileLocked('sessions')(stage, () => confirm(browser, page, 'x'));
  }),
  unavailableOn('/oauth/account', '/oauth/account/disconnect'),
  unavailableOn('/oauth/account', '/oauth/sign-out'),
  unavailableOn('/oauth/account/stop', '/oauth/account/stop'),
  unavailableOn('/oauth/account/security', '/oauth/account/sessions/end'),
  unavailableOn('/oauth/account/password', '/oauth/account/password'),
];

export const noticeSample = (
  { title, text }: { readonly title: string; readonly text: string | Texts['notices']['full']['text'] },
  links: Page<'notice'>['links'],
  passOn: string | null = null,
): Page<'notice'> => ({
  name: 'notice',
  title,
  text: withValues(text, { client: SHOP }),
  links,
  refusal: passOn === null ? null : { passOn, reference: 'k3v9-7qxp', explained: null },
});

const askThem = ({ passOn, anApplication }: Texts['errors']) => passOn({ client: anApplication });
const toAccount = ({ account }: Texts) => ({ href: '/oauth/account', text: account.see });
const toRequest = ({ notices }: Texts) => ({ href: REQUEST, text: notices.seeRequest });

const NOTICES: WithSample[] = [
  {
    name: 'notice, embedded',
    status: 403,
    sample: ({ notices: { embedded, newTab }, errors }) =>
      noticeSample(embedded, [{ href: REQUEST, text: newTab, inNewTab: true }], askThem(errors)),
    reach: (browser, { shop }) => browser.get(linkTo(requestOf(shop)), { 'sec-fetch-dest': 'iframe' }),
  },
  {
    // The posted request is not read, so there is no address to link to.
    name: 'notice, embedded form',
    status: 403,
    sample: ({ notices, errors }) => noticeSample(notices.embedded, [], askThem(errors)),
    reach: (browser, { shop }) =>
      browser.post('/oauth/authorize', requestOf(shop), { 'sec-fetch-dest': 'iframe' }),
  },
  {
    name: 'notice, full',
    status: 409,
    sample: (texts) =>
      noticeSample(texts.notices.full, [toAccount(texts), toRequest(texts)], texts.errors.tellUs),
    reach: async (browser, { shop, vera }) => {
      for (const name of ['phone', 'tablet'])
        await obtainCode(browser, requestOf(shop, { instance_name: name }), vera);
      return browser.get(linkTo(requestOf(shop)));
    },
  },
  {
    name: 'notice, sign-in elsewhere',
    status: 200,
    sample: ({ signIn: { button: title, elsewhere } }) =>
      noticeSample({ title, text: elsewhere({ host: 'localhost' }) }, [
        { href: '/oauth/sign-in', text: title },
      ]),
    reach: atWallet((browser) => browser.get('/oauth/account')),
  },
  {
    name: 'notice, not signed in',
    status: 200,
    sample: ({ notices, errors }) =>
      noticeSample({ title: errors.titles.not_signed_in, text: notices.notSignedIn }, [
        { href: '/oauth/sign-in', text: errors.tryAgain },
      ]),
    reach: signingIn(CANCELLED),
  },
  {
    name: 'notice, not confirmed',
    status: 200,
    sample: (texts) =>
      noticeSample({ title: texts.errors.titles.not_confirmed, text: texts.notices.notSignedIn }, [
        { href: '/oauth/sign-in?client_id=x', text: texts.errors.tryAgain },
        toRequest(texts),
      ]),
    reach: confirming(CANCELLED),
  },
];

const AT_SIGN_IN: Readonly<Record<string, Reach>> = {
  'sign-in after a wrong password': async (browser) =>
    follow(browser, await signIn(browser, 'unknown', 'wrong')),
  'sign-in after too many tries': async (browser, { server, boris: { login } }) => {
    for (let tries = 0; tries < 5; tries += 1) await signIn(browser, login, 'wrong');
    const { pool } = server.database;
    const wait = `clock_timestamp() + interval '15 minutes'`;
    await pool.query(`update throttles set free_at = ${wait} where free_at > counted_at`);
    const answer = await follow(browser, await signIn(browser, login, 'wrong'));
    await pool.query('delete from throttles');
    return answer;
  },
  'sign-in after a stale form': async (browser, stage) => {
    const page = await sent({})(browser, stage);
    browser.cookies.clear();
    const answer = await follow(browser, await fillIn(browser, page, stage.anna));
    expect(answer.body).not.toContain(stage.anna.password);
    return answer;
  },
  'sign-in without cookies': async (browser, stage) => {
    const page = await sent({})(browser, stage);
    browser.cookies.clear();
    const answer = await fillIn(browser, page, stage.anna);
    browser.cookies.clear();
    return follow(browser, answer);
  },
  'sign-in after an answer too late': onConsent('anna', async (page, browser, stage) => {
    await endSessions(stage);
    return follow(browser, await decide(browser, page, 'allow'));
  }),
  'sign-in after the session ended': onConsent('anna', async (_page, browser, stage) => {
    await endSessions(stage);
    return browser.get('/oauth/account');
  }),
};

const OUTCOMES: Record<OutcomeMessageKey, Reach> = {
  stale: (browser, stage) => {
    const stop = '/oauth/account/stop';
    return pressOn(stop, stop, (_stage, send) => asAnna(browser, stage, send))(browser, stage);
  },
  not_signed_in: async (browser, stage) => {
    const page = await sent({})(browser, stage);
    browser.cookies.delete('assent_visit');
    return asAnna(browser, stage, () => fillIn(browser, page, stage.boris));
  },
  not_decided: onConsent('boris', (page, browser, stage) =>
    asAnna(browser, stage, () => decide(browser, page, 'allow')),
  ),
  not_signed_out: onConsent('boris', (page, browser, stage) =>
    asAnna(browser, stage, () => browser.post('/oauth/sign-out', fieldsFor(page, '/oauth/sign-out'))),
  ),
  allowed: onConsent('anna', async (page, browser, { shop }) => {
    await decide(browser, page, 'allow');
    return browser.get(linkTo(requestOf(shop)));
  }),
  spent: onConsent('anna', async (page, browser, { shop, server }) => {
    await decide(browser, page, 'allow');
    await expireCode(server, shop);
    return follow(browser, await decide(browser, page, 'allow'));
  }),
  not_rejected: onConsent('anna', async (page, browser) => {
    await decide(browser, page, 'allow');
    return follow(browser, await decide(browser, page, 'reject'));
  }),
  too_many_decisions: onConsent('anna', (page, browser, stage) =>
    afterManyDecisions(stage, async () => follow(browser, await decide(browser, page, 'allow'))),
  ),
  not_stopped: pressOn('/oauth/account/stop', '/oauth/account/stop', afterManyDecisions),
  rejected: onConsent('anna', async (page, browser, { shop }) => {
    await decide(browser, page, 'reject');
    return browser.get(linkTo(requestOf(shop)));
  }),
};

const NOTED_ON: Partial<Record<OutcomeMessageKey, Page['name']>> = { stale: 'stop', not_stopped: 'stop' };
const WAITS: readonly OutcomeMessageKey[] = ['too_many_decisions', 'not_stopped'];

const AFTER_FORMS: DeadEnd[] = (Object.keys(OUTCOMES) as OutcomeMessageKey[]).map((note) => ({
  name: `${NOTED_ON[note] ?? 'consent'} after ${note}`,
  status: WAITS.includes(note) ? 429 : 200,
  page: NOTED_ON[note] ?? 'consent',
  reach: OUTCOMES[note],
}));

const SIGN_IN = Object.entries(AT_SIGN_IN).map(
  ([name, reach]): DeadEnd => ({ name, status: name === 'sign-in after too many tries' ? 429 : 200, reach }),
);

const WITH_SAMPLES: readonly WithSample[] = [...ERROR_PAGES, ...PRESSED, ...NOTICES];

export const DEAD_ENDS: readonly DeadEnd[] = [
  ...WITH_SAMPLES,
  ...SIGN_IN,
  ...AFTER_FORMS,
  {
    name: 'consent, a payment password is missing',
    status: 200,
    page: 'consent',
    reach: at({ requiresPaymentPassword: true }, async (browser, server) => {
      const { login, password } = await server.createUser({ paymentPassword: null });
      await signIn(browser, login, password);
      const asked = linkTo(requestOf(await server.createClient({ name: SHOP }), SPENDING));
      const pressed = await follow(browser, await press(browser, await browser.get(asked), 'allow'));
      expect(leadsTo(pressed, '/oauth/authorize')).toBe(true);
      return follow(browser, pressed);
    }),
  },
  {
    name: 'account after too_many_decisions',
    status: 429,
    reach: pressOn('/oauth/account', '/oauth/account/disconnect-all', afterManyDecisions),
  },
];

export function deadEndSamples(texts: Texts): Record<string, Page<'error' | 'notice'>> {
  return Object.fromEntries(WITH_SAMPLES.map(({ name, sample }) => [name, sample(texts)]));
}
