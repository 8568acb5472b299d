import { parseToken } from '../../src/secrets/tokens.ts';
import { codeOf, decide, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import type { Answer } from '../support/http/agent.ts';
import type { TestClient, TestUser } from '../support/server.ts';
import { Browser, Unanswered } from './browser.ts';
import type { Dice } from './dice.ts';
import { CODE_LIFETIME_MS, LIMIT, type Site } from './site.ts';

const SPENDING = `payment-shop.limit(7,${LIMIT}) money-source("wallet")`;
const MAX_KEPT = 20;

interface Held {
  readonly client: TestClient;
  readonly value: string;
  readonly at: number;
}

/** A user with a browser, and the applications that the user authorizes. @returns does an action of the dice's choice */
export function person(site: Site, user: TestUser, name: string, dice: Dice) {
  /** Only this driver authorizes it, so that its code expires and is not annulled. */
  const ownInstance = `of ${name}`;
  const browser = new Browser(site, { actor: name, userId: user.userId }, dice);
  const application = new Browser(site, { actor: `${name}'s application` }, dice);
  const tokens: Held[] = [];
  const usedCodes: Held[] = [];
  const lateCodes: Held[] = [];
  const payments: Record<string, string>[] = [];

  async function authorize(): Promise<void> {
    const client = dice.pick(site.clients);
    const way = dice.weighed([
      [60, 'once'],
      [15, 'together'],
      [5, 'wrongFirst'],
      [8, 'late'],
      [5, 'never'],
    ]);
    const asked = { ...request(client), ...(way === 'late' ? { instance_name: ownInstance } : {}) };
    const consent = await reachConsent(browser, asked, user);
    const code = codeOf(await allow(consent));
    if (dice.hits(0.3)) await ask(annulledBy(code)).catch(ifUnanswered);
    const held = { client, value: code, at: Date.now() };
    if (way === 'late') lateCodes.push(held);
    if (way === 'wrongFirst') await exchange(held, { redirect_uri: 'http://127.0.0.1:9/other' });
    if (way === 'once' || way === 'wrongFirst') await exchangeAtLast(held);
    if (way === 'together') {
      await Promise.all([1, 2, 3, 4].map(() => exchange(held).catch(ifUnanswered)));
      await ask(tokens.at(-1));
    }
    keep(usedCodes, held);
    if (dice.hits(0.6)) await pay(tokens.at(-1));
  }

  /** One that has expired, and that is not asked for again. */
  function lateCode(): Held | undefined {
    const index = lateCodes.findIndex(({ at }) => Date.now() - at > CODE_LIFETIME_MS);
    return index < 0 ? undefined : lateCodes.splice(index, 1)[0];
  }

  async function revoke(held: Held | undefined): Promise<void> {
    if (held === undefined) return;
    const { clientId: client_id, clientSecret: client_secret } = held.client;
    const credentials = client_secret === null ? { client_id } : { client_id, client_secret };
    await application.post('/oauth/revoke', { token: held.value, ...credentials });
  }

  async function ask(held: Held | undefined): Promise<void> {
    if (held !== undefined) await application.introspect(held.value);
  }

  /** Pays, also several times at once or while the token is revoked, and repeats unanswered and old payments. */
  async function pay(held: Held | undefined): Promise<void> {
    if (held === undefined) return;
    // Only one of the larger ones fits in a budget.
    const [count, amount] = [dice.pick([1, 4]), dice.pick(['1', '2600'])];
    const made = Array.from({ length: count }, () => ({
      token: held.value,
      key: String(dice.next()),
      amount,
      currency: 'RUB',
      source: 'wallet',
      shop: '337',
    }));
    for (const payment of made) keep(payments, payment);
    const sent = dice.hits(0.5) ? [...made, dice.pick(payments)] : made;
    const send = async (payment: Record<string, string>, tries = 2): Promise<void> => {
      const credentials = { authorization: site.resource };
      const answer = await application.post('/oauth/spend', payment, credentials).catch(ifUnanswered);
      if (tries > 1 && (answer?.status ?? 503) === 503) await send(payment, tries - 1);
    };
    await Promise.all([...sent.map((each) => send(each)), dice.hits(0.2) ? revoke(held) : null]);
  }

  function annulledBy(code: string): Held | undefined {
    const { grantId } = parseToken('code', code);
    return tokens.findLast(({ value }) => parseToken('token', value).grantId === grantId);
  }

  /** Allows, sometimes by a double click, and presses again where no answer came. */
  async function allow(consent: Answer): Promise<Answer> {
    const press = () => decide(browser, consent, 'allow');
    if (dice.hits(0.15)) {
      const answers = await Promise.all([press(), press()].map((pressed) => pressed.catch(ifUnanswered)));
      const redirected = answers.find((answer) => answer?.status === 302);
      if (redirected !== undefined) return redirected;
    }
    const first = await press().catch(ifUnanswered);
    const isAnswered = first !== undefined && first.status !== 503;
    return isAnswered || dice.hits(0.3) ? (first ?? press()) : press();
  }

  /** Asks again where there was no token, as an application that knows no better. */
  async function exchangeAtLast(held: Held): Promise<void> {
    const answer = await exchange(held).catch(ifUnanswered);
    if ((answer === undefined || answer.status === 503) && dice.hits(0.6)) await exchange(held);
  }

  async function exchange(held: Held | undefined, changes: Record<string, string> = {}) {
    if (held === undefined) return;
    const fields = tokenRequestOf(held.client, held.value, changes);
    const answer = await application.post('/oauth/token', fields);
    const token = /"access_token":"([^"]+)"/.exec(answer.body)?.[1];
    if (token !== undefined) keep(tokens, { ...held, value: token });
    return answer;
  }

  /** Presses one of the account page's buttons that post to `path`, if there are any. */
  async function press(path: string): Promise<void> {
    const page = await browser.get(path === '/oauth/account/stop' ? path : '/oauth/account');
    const forms = page.forms.filter(({ action }) => action === path);
    const form = forms[dice.below(Math.max(1, forms.length))];
    if (form !== undefined) await browser.post(path, form.fields);
  }

  function request(client: TestClient): Record<string, string> {
    const instance = dice.pick([undefined, 'first', 'second']);
    return requestOf(client, {
      state: String(dice.below(1_000_000)),
      ...(instance === undefined ? {} : { instance_name: instance }),
      ...(dice.hits(0.5) ? { scope: SPENDING } : {}),
    });
  }

  function anyOf(held: readonly Held[]): Held | undefined {
    return held[dice.below(Math.max(1, held.length))];
  }

  async function reject(): Promise<void> {
    await decide(browser, await reachConsent(browser, request(dice.pick(site.clients)), user), 'reject');
  }

  return async function act(): Promise<void> {
    const held = anyOf(tokens);
    const action = dice.weighed<() => Promise<unknown>>([
      [40, authorize],
      [24, () => ask(held)],
      [10, () => pay(held)],
      [6, reject],
      [5, () => exchange(anyOf(usedCodes))],
      [12, () => exchange(lateCode())],
      [8, () => revoke(held)],
      [4, () => press('/oauth/account/disconnect')],
      [2, () => press('/oauth/account/disconnect-all')],
      [
        4,
        () => browser.get(dice.pick(['/oauth/account', '/oauth/account/history', '/oauth/account/security'])),
      ],
      [1, () => press('/oauth/account/stop')],
      [1, () => press('/oauth/sign-out')],
    ]);
    await action();
  };
}

function keep<T>(all: T[], one: T): void {
  all.push(one);
  if (all.length > MAX_KEPT) all.shift();
}

function ifUnanswered(error: unknown): undefined {
  if (!(error instanceof Unanswered)) throw error;
}
