import { fieldsFor, follow, whileLocked as whileTableLocked } from '../support/account.ts';
import { decide, linkTo, obtainCode, press, reachConsent, requestOf } from '../support/flow.ts';
import { Agent, type Answer, readAnswer } from '../support/http/agent.ts';
import { converse } from '../support/http/rawHttp.ts';
import { intercept } from '../support/postgres/intercept.ts';
import { type ServerOptions, startServer, type TestServer, type TestUser } from '../support/server.ts';
import { setUserStatus } from '../support/state.ts';
import { goOn, openWallet, passWallet, type Wallet } from '../support/wallet.ts';

export type Reach = (browser: Agent, stage: Stage) => Promise<Answer>;

export type Stage = Awaited<ReturnType<typeof setStage>>;

export const SHOP = 'Demo Shop';

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
    /** The answer to a request that never ends: the server's limit of time passes beside the other dead ends. */
    late: raw(server, 'GET /account HTTP/1.1\r\nHost: x\r\n'),
  };
}

/** An authorization request of the shop with other fields. @param encoded added as it is */
export const sent =
  (fields: Record<string, string>, encoded = ''): Reach =>
  (browser, { shop }) =>
    browser.get(linkTo(requestOf(shop, fields)) + encoded);

/** A user comes to the consent page, and goes on. */
export const onConsent =
  (name: 'anna' | 'boris', go: (page: Answer, browser: Agent, stage: Stage) => Promise<Answer>): Reach =>
  async (browser, stage) =>
    go(await reachConsent(browser, requestOf(stage.shop), stage[name]), browser, stage);

/** Sends the sign-in form of a page. */
export const fillIn = (browser: Agent, page: Answer, { login, password }: TestUser) =>
  browser.submit(page, 'login', { login, password });

export const followed =
  (reach: Reach): Reach =>
  async (browser, stage) =>
    follow(browser, await reach(browser, stage));

export const amid =
  (around: Around, reach: Reach): Reach =>
  (browser, stage) =>
    around(stage, () => reach(browser, stage));

/** Posts the form for `action` on an account page of Anna's, who has two connections and a further session. */
export const pressOn =
  (page: string, action: string, around: Around): Reach =>
  async (browser, stage) => {
    const { shop, anna } = stage;
    await obtainCode(new Agent(browser.baseUrl), requestOf(shop, { instance_name: 'tablet' }), anna);
    await obtainCode(browser, requestOf(shop), anna);
    const fields = { ...fieldsFor(await browser.get(page), action), ...PASSWORDS };
    return around(stage, () => browser.post(action, fields));
  };

/** The fields of the form for a new password; the other forms read none of them. */
const PASSWORDS = { password: 'x', new_password: 'x' };

/** What a piece of work is done amid. */
type Around = (stage: Stage, work: () => Promise<Answer>) => Promise<Answer>;

export const whileLocked =
  (table: string): Around =>
  ({ server }, work) =>
    whileTableLocked(server, table, work);

/** The applications can't be found at all, which is a fault of ours. */
export const whileBroken: Around = async ({ server }, work) => {
  const { pool } = server.database;
  await pool.query('alter table clients rename to clients_elsewhere');
  try {
    return await work();
  } finally {
    await pool.query('alter table clients_elsewhere rename to clients');
  }
};

export const withoutAccountInfo: Around = async ({ server: { context } }, work) => {
  const { catalogue } = context;
  const fewer = new Map([...catalogue].filter(([name]) => name !== 'account-info'));
  Object.assign(context, { catalogue: fewer });
  try {
    return await work();
  } finally {
    Object.assign(context, { catalogue });
  }
};

/** Anna has decided more than a user may in a minute. */
export const afterManyDecisions: Around = async ({ server, anna }, work) => {
  const { pool } = server.database;
  const count = 'update users set decisions = $2, decided_at = clock_timestamp() where user_id = $1';
  await pool.query(count, [anna.userId, 2_000]);
  const answer = await work();
  await pool.query(count, [anna.userId, 0]);
  return answer;
};

/** Anna is signed in meanwhile, as in another tab. The answer is followed. */
export async function asAnna(
  browser: Agent,
  { anna, shop }: Stage,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const tab = new Agent(browser.baseUrl, browser.headers);
  await reachConsent(tab, requestOf(shop), anna); // it asks again while too many passwords are checked
  browser.cookies.set('assent_session', tab.cookies.get('assent_session') ?? '');
  return follow(browser, await send());
}

export async function endSessions({ server, anna }: Stage): Promise<void> {
  await server.database.pool.query('delete from sessions where user_id = $1', [anna.userId]);
}

/** The user is blocked after the form was read, before the decision is written. */
export const blockedAtTheLastMoment: Reach = async (browser, stage) => {
  const { database } = stage.server;
  const user = await stage.server.createUser();
  const pool = intercept(database.pool, async (statement, run) => {
    if (statement.name === 'grant-approve') await setUserStatus(stage.server, user.login, 'blocked');
    return run();
  });
  const there = at({ database: { ...database, pool } }, async (agent) =>
    decide(agent, await reachConsent(agent, requestOf(stage.shop), user), 'allow'),
  );
  return there(browser, stage);
};

/** The same at a server with other settings. */
export const at =
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
export const atWallet =
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

type Change = Partial<Pick<Wallet, 'user' | 'replaced'>>;

/** A sign-in that the wallet answers with a change. */
export const signingIn = (change: Change): Reach =>
  atWallet((browser, wallet) => passWallet(Object.assign(wallet, change), browser, '/account'));

/** A payment of a signed-in user, whose confirmation the wallet answers with a change. */
export const confirming = (change: Change): Reach =>
  atWallet(async (browser, wallet, server) => {
    await goOn(wallet, browser, '/account');
    const asked = linkTo(requestOf(await server.createClient(), { scope: 'payment-shop' }));
    const pressed = await press(browser, await browser.get(asked), 'allow');
    return passWallet(Object.assign(wallet, change), browser, pressed);
  });

export async function raw({ baseUrl }: TestServer, bytes: string): Promise<Answer> {
  const { answers } = await converse(baseUrl, bytes);
  const [answer] = answers;
  const reference = answer?.headers.get('x-request-id')?.[0] ?? '';
  const init = { status: answer?.status ?? 0, headers: { 'x-request-id': reference } };
  return readAnswer(new Response(answer?.body ?? '', init));
}
