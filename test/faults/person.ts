import { parseToken } from '../../src/secrets/tokens.ts';
import { codeOf, decide, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import type { Answer } from '../support/http/agent.ts';
import type { TestClient, TestUser } from '../support/server.ts';
import { Browser, Unanswered } from './browser.ts';
import type { Dice } from './dice.ts';
import type { Population } from './population.ts';
import { CODE_LIFETIME_MS, type Site } from './site.ts';

const WEIGHTS = {
  authorize: 40,
  introspect: 24,
  reject: 6,
  replay: 5,
  exchangeLate: 12,
  revoke: 8,
  disconnect: 4,
  disconnectAll: 2,
  look: 4,
  stop: 1,
  signOut: 1,
} as const;

const SPENDING = 'payment-shop.limit(7,5000) money-source("wallet")';
const MAX_KEPT = 20;

interface Held {
  readonly client: TestClient;
  readonly value: string;
  readonly at: number;
}

/** A user with a browser, and the applications that the user authorizes: each action is chosen by the dice. */
export class Person {
  readonly #dice: Dice;
  /** Nobody else authorizes it, so that its code is late and not annulled. */
  readonly #ownInstance: string;
  readonly #people: Population;
  readonly #user: TestUser;
  readonly #browser: Browser;
  readonly #application: Browser;
  readonly #tokens: Held[] = [];
  readonly #usedCodes: Held[] = [];
  readonly #lateCodes: Held[] = [];

  constructor(site: Site, people: Population, user: TestUser, name: string, dice: Dice) {
    this.#dice = dice;
    this.#ownInstance = `of ${name}`;
    this.#people = people;
    this.#user = user;
    this.#browser = new Browser(site, { name, userId: user.userId }, dice);
    this.#application = new Browser(site, { name: `${name}'s application` }, dice);
  }

  /** Does one thing. @throws {Unanswered} and what a page says instead of what was expected */
  async act(): Promise<void> {
    const held = this.#anyOf(this.#tokens);
    const actions: Readonly<Record<keyof typeof WEIGHTS, () => Promise<unknown>>> = {
      authorize: () => this.#authorize(),
      introspect: () => this.#ask(held),
      reject: () => this.#reject(),
      replay: () => this.#exchangeAgain(this.#anyOf(this.#usedCodes)),
      exchangeLate: () => this.#exchangeAgain(this.#lateCode()),
      revoke: () => this.#revoke(held),
      disconnect: () => this.#press('/account/disconnect'),
      disconnectAll: () => this.#press('/account/disconnect-all'),
      look: () => this.#browser.get(this.#dice.pick(['/account', '/account/history', '/account/security'])),
      stop: () => this.#press('/account/stop'),
      signOut: () => this.#press('/sign-out'),
    };
    await actions[this.#dice.weighed(WEIGHTS)]();
  }

  async #authorize(): Promise<void> {
    const client = this.#dice.pick(this.#people.clients);
    const way = this.#dice.weighed({ once: 60, together: 15, wrongFirst: 5, late: 8, never: 5 });
    const asked = {
      ...this.#request(client),
      ...(way === 'late' ? { instance_name: this.#ownInstance } : {}),
    };
    const consent = await reachConsent(this.#browser, asked, this.#user);
    const code = codeOf(await this.#allow(consent));
    if (this.#dice.hits(0.3)) await this.#ask(this.#annulledBy(code)).catch(ifUnanswered);
    const held = { client, value: code, at: Date.now() };
    if (way === 'late') this.#lateCodes.push(held);
    if (way === 'wrongFirst') await this.#exchange(held, { redirect_uri: 'http://127.0.0.1:9/other' });
    if (way === 'once' || way === 'wrongFirst') await this.#exchangeAtLast(held);
    if (way === 'together') {
      await Promise.all([1, 2, 3, 4].map(() => this.#exchange(held).catch(ifUnanswered)));
      await this.#ask(this.#tokens.at(-1));
    }
    keep(this.#usedCodes, held);
  }

  async #reject(): Promise<void> {
    const consent = await reachConsent(
      this.#browser,
      this.#request(this.#dice.pick(this.#people.clients)),
      this.#user,
    );
    await decide(this.#browser, consent, 'reject');
  }

  async #exchangeAgain(held: Held | undefined): Promise<void> {
    if (held !== undefined) await this.#exchange(held);
  }

  /** One that has expired, and that is not asked for again. */
  #lateCode(): Held | undefined {
    const index = this.#lateCodes.findIndex(({ at }) => Date.now() - at > CODE_LIFETIME_MS);
    return index < 0 ? undefined : this.#lateCodes.splice(index, 1)[0];
  }

  async #revoke(held: Held | undefined): Promise<void> {
    if (held === undefined) return;
    const { clientId: client_id, clientSecret: client_secret } = held.client;
    const credentials = client_secret === null ? { client_id } : { client_id, client_secret };
    await this.#application.post('/oauth/revoke', { token: held.value, ...credentials });
  }

  async #ask(held: Held | undefined): Promise<void> {
    const { resource: authorization } = this.#people;
    if (held !== undefined)
      await this.#application.post('/oauth/introspect', { token: held.value }, { authorization });
  }

  #annulledBy(code: string): Held | undefined {
    const { grantId } = parseToken('code', code);
    return this.#tokens.findLast(({ value }) => parseToken('token', value).grantId === grantId);
  }

  /** Allows, sometimes by a double click, and presses again where no answer came. */
  async #allow(consent: Answer): Promise<Answer> {
    const press = () => decide(this.#browser, consent, 'allow');
    if (this.#dice.hits(0.15)) {
      const answers = await Promise.all([press(), press()].map((pressed) => pressed.catch(ifUnanswered)));
      const redirected = answers.find((answer) => answer?.status === 302);
      if (redirected !== undefined) return redirected;
    }
    const first = await press().catch(ifUnanswered);
    const isAnswered = first !== undefined && first.status !== 503;
    return isAnswered || this.#dice.hits(0.3) ? (first ?? press()) : press();
  }

  /** Asks again where there was no token, as an application that knows no better. */
  async #exchangeAtLast(held: Held): Promise<void> {
    const answer = await this.#exchange(held).catch(ifUnanswered);
    if ((answer === undefined || answer.status === 503) && this.#dice.hits(0.6)) await this.#exchange(held);
  }

  async #exchange(held: Held, changes: Record<string, string> = {}): Promise<Answer> {
    const fields = tokenRequestOf(held.client, held.value, changes);
    const answer = await this.#application.post('/oauth/token', fields);
    const token = /"access_token":"([^"]+)"/.exec(answer.body)?.[1];
    if (token !== undefined) keep(this.#tokens, { ...held, value: token });
    return answer;
  }

  /** Presses one of the account page's buttons that post to `path`, if there are any. */
  async #press(path: string): Promise<void> {
    const page = await this.#browser.get(path === '/account/stop' ? path : '/account');
    const forms = page.forms.filter(({ action }) => action === path);
    const form = forms[this.#dice.below(Math.max(1, forms.length))];
    if (form !== undefined) await this.#browser.post(path, form.fields);
  }

  #request(client: TestClient): Record<string, string> {
    const instance = this.#dice.pick([undefined, 'first', 'second']);
    return requestOf(client, {
      state: String(this.#dice.below(1_000_000)),
      ...(instance === undefined ? {} : { instance_name: instance }),
      ...(this.#dice.hits(0.06) ? { scope: SPENDING } : {}),
    });
  }

  #anyOf(held: readonly Held[]): Held | undefined {
    return held[this.#dice.below(Math.max(1, held.length))];
  }
}

function keep(all: Held[], one: Held): void {
  all.push(one);
  if (all.length > MAX_KEPT) all.shift();
}

function ifUnanswered(error: unknown): undefined {
  if (!(error instanceof Unanswered)) throw error;
}
