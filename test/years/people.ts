import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../src/secrets/password.ts';
import type { Dice } from '../faults/dice.ts';
import { codeOf, decide, goOnToConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import type { TestUser } from '../support/registrations.ts';
import { DAY } from './clock.ts';
import type { Installation } from './installation.ts';
import type { Application, Model, Person, Token } from './model.ts';

/** A browser or an application behind a load balancer. */
class Browser extends Agent {
  readonly #installation: Installation;
  readonly #dice: Dice;

  constructor(installation: Installation, dice: Dice) {
    super(installation.baseUrl);
    this.#installation = installation;
    this.#dice = dice;
  }

  override send(url: string, init: Parameters<Agent['send']>[1]): Promise<Answer> {
    const { pathname, search } = new URL(url, this.baseUrl);
    const port = this.#dice.pick(this.#installation.ports);
    const send = () => super.send(`http://127.0.0.1:${port}${pathname}${search}`, init);
    // As browsers do when the server was just closing an idle connection.
    return send().catch((error: Error) => {
      if (!isOfConnection(error)) throw error;
      return send();
    });
  }
}

const isOfConnection = ({ cause }: Error): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((cause as { code?: string } | undefined)?.code ?? '');

const random = () => randomBytes(12).toString('hex');
const LIMITS = [1_000, 5_000, 20_000];

/** What people and operators do, each noted in the model once it is answered. Throws what an answer had instead. */
export class People {
  readonly #at: Installation;
  readonly #model: Model;
  readonly #dice: Dice;
  readonly #browsers = new Map<Person, Agent>();
  readonly #imported: TestUser[] = [];
  /** Of an operator who may do all. */
  operator = '';

  constructor(installation: Installation, model: Model, dice: Dice) {
    this.#at = installation;
    this.#model = model;
    this.#dice = dice;
  }

  /**
   * Imports users of an earlier service, who authorize later. All have the same passwords: hashing one for each user would take much of
   * a life's time.
   */
  async importUsers(count: number): Promise<void> {
    this.#at.manual.note('importUsers');
    const [password, paymentPassword] = [`password-${random()}`, `payment-${random()}`];
    const hashes = {
      password_hash: await hashPassword(password),
      payment_password_hash: await hashPassword(paymentPassword),
    };
    const logins = Array.from({ length: count }, () => `user-${random()}`);
    const lines = logins.map((login) => JSON.stringify({ login, name: 'Anna', ...hashes }));
    await this.#at.command('user import', 'owner', lines.join('\n'));
    const found = await this.#at.postgres.query<{ userId: string; login: string }>(
      'select user_id as "userId", login from users order by login',
    );
    this.#imported.push(...found.map((user) => ({ ...user, password, paymentPassword })));
  }

  /** An imported one, while there are more. */
  async nextPerson(): Promise<Person> {
    return this.#note(this.#imported.pop() ?? (await this.newUser()));
  }

  async newPerson(): Promise<Person> {
    return this.#note(await this.newUser());
  }

  #note(user: TestUser): Person {
    const person = { user, isBlocked: false, isDeleted: false, blockedAt: undefined, tokens: [] };
    this.#model.people.push(person);
    return person;
  }

  /** One who does nothing of an own accord. */
  async newUser(): Promise<TestUser> {
    const [login, password, paymentPassword] = [
      `user-${random()}`,
      `password-${random()}`,
      `payment-${random()}`,
    ];
    const asked = { login, name: 'Anna', password, payment_password: paymentPassword };
    const body = await this.operate('POST /v1/users', asked);
    return { userId: String(body.user_id), login, password, paymentPassword };
  }

  async operate(what: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await this.#at.operate(this.operator, what, body);
    if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async authorize(person: Person, application: Application): Promise<Token> {
    const [limit, pays, ends] = [this.#dice.pick(LIMITS), this.#dice.hits(0.7), this.#dice.hits(0.2)];
    const until = ends ? dayOf(this.#at.clock.now() + (40 + this.#dice.below(300)) * DAY) : undefined;
    const right = `payment-shop.limit(7,${limit})${until === undefined ? '' : `.until(${until})`}`;
    const scope = pays ? `account-info ${right}` : 'account-info';
    const browser = this.#browserOf(person);
    const fields = requestOf(application, { scope });
    const consent = await goOnToConsent(browser, await browser.post('/oauth/authorize', fields), person.user);
    const code = codeOf(await decide(browser, consent, 'allow'));
    const answer = await browser.post('/oauth/token', tokenRequestOf(application, code));
    const { access_token: value, grant_id: grantId } = JSON.parse(answer.body);
    if (!value) throw new Error(`no token: ${answer.status} ${answer.body}`);
    const { iat } = await this.introspect(value);
    const issuedAt = Number(iat) * 1_000;
    return this.#model.issue({
      ...{ value, grantId, person, application, issuedAt },
      limit: pays ? limit : 0,
      until: pays ? until : undefined,
    });
  }

  async introspect(token: string): Promise<Record<string, unknown>> {
    const browser = new Browser(this.#at, this.#dice);
    const answer = await browser.post('/oauth/introspect', { token }, { authorization: this.#at.resource });
    if (answer.status !== 200) throw new Error(`introspection: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body);
  }

  /** @throws {Error} if the answer is not what the sum of the last days allows */
  async pay(token: Token): Promise<void> {
    const amount = this.#dice.pick([100, 900, 4_000]);
    const now = this.#at.clock.now();
    const isOpen = token.limit > 0 && (token.until === undefined || now < Date.parse(token.until) + DAY);
    const fits = isOpen && this.#model.spentIn(token, now) + amount <= token.limit;
    const browser = new Browser(this.#at, this.#dice);
    const payment = {
      token: token.value,
      key: random(),
      amount: String(amount),
      currency: 'RUB',
      source: 'wallet',
      shop: '337',
    };
    const answer = await browser.post('/oauth/spend', payment, { authorization: this.#at.resource });
    const { verdict, reason } = JSON.parse(answer.body);
    const expected = fits ? 'reserved' : 'refused';
    if (verdict !== expected)
      throw new Error(`payment of ${amount}: ${answer.status} ${verdict} ${reason} instead of ${expected}`);
    if (fits) token.payments.push({ at: now, amount });
    this.#model.count(`payment ${verdict}`);
  }

  /** By the application, which has the token. */
  async giveUp(token: Token): Promise<void> {
    const { clientId: client_id, clientSecret } = token.application;
    const form = { token: token.value, client_id, client_secret: clientSecret ?? '' };
    const { status } = await new Browser(this.#at, this.#dice).post('/oauth/revoke', form);
    if (status !== 200) throw new Error(`revocation: ${status}`);
    this.#model.end(token, 'application');
  }

  async disconnect(token: Token): Promise<void> {
    const path = '/oauth/account/disconnect';
    const [browser, page] = await this.#open(token.person, '/oauth/account');
    const form = page.forms.find(
      ({ action, fields }) => action === path && fields.grant_id === token.grantId,
    );
    if (form === undefined) throw new Error(`no button to disconnect: ${page.status} ${page.text}`);
    await browser.post(path, form.fields);
    this.#model.end(token, 'user');
  }

  /** The text of the page. */
  async historyOf(person: Person): Promise<string> {
    const [, page] = await this.#open(person, '/oauth/account/history');
    return page.text;
  }

  /** A page of the account, after a sign-in if it is asked for. */
  async #open(person: Person, path: string): Promise<[browser: Agent, page: Answer]> {
    const { login, password } = person.user;
    const browser = this.#browserOf(person);
    let page = await browser.get(path);
    for (let steps = 0; steps < 6; steps += 1) {
      if (page.location !== null) page = await browser.get(page.location);
      else if (page.forms.some(({ inputs }) => inputs.includes('login')))
        page = await browser.submit(page, 'login', { login, password });
      else break;
    }
    return [browser, page];
  }

  async revoke(token: Token): Promise<void> {
    await this.operate('POST /v1/grants/revoke', { grant_id: token.grantId });
    this.#model.end(token, 'operator');
  }

  async lower(token: Token): Promise<void> {
    if (!this.#at.release.lowers || token.limit <= 10 || token.until !== undefined) return;
    const limit = Math.floor(token.limit / 2);
    await this.operate(`POST /v1/grants/${token.grantId}/lower`, {
      scope: `account-info payment-shop.limit(7,${limit})`,
    });
    token.limit = limit;
    this.#model.count('lowered');
    this.#model.tellApplication(token, 'lowered', 'operator');
    this.#model.tellWallet(token.person, 'lowered');
  }

  async block(person: Person): Promise<void> {
    await this.operate(`POST /v1/users/${person.user.userId}/block`);
    this.#model.block(person, this.#at.clock.now());
  }

  async unblock(person: Person): Promise<void> {
    // The authorizations that live when a block is read are told of it; real days give `assent notify` the time to read it.
    await this.#at.untilNotified(person.blockedAt);
    await this.operate(`POST /v1/users/${person.user.userId}/unblock`);
    person.isBlocked = false;
  }

  async losePassword(person: Person): Promise<void> {
    const password = `password-${random()}`;
    await this.operate(`POST /v1/users/${person.user.userId}/set-password`, { password });
    person.user = { ...person.user, password };
    this.#model.count('password set');
  }

  async delete(person: Person): Promise<void> {
    await this.operate(`DELETE /v1/users/${person.user.userId}?confirm=true`);
    this.#model.delete(person, this.#at.clock.now());
  }

  #browserOf(person: Person): Agent {
    const known = this.#browsers.get(person);
    // A lost device, or cookies that were deleted.
    if (known !== undefined && !this.#dice.hits(0.05)) return known;
    const browser = this.newBrowser();
    this.#browsers.set(person, browser);
    return browser;
  }

  newBrowser(): Agent {
    return new Browser(this.#at, this.#dice);
  }
}

export const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
