import * as cheerio from 'cheerio';
import { decide, reachConsent } from '../flow.ts';
import { Agent, type Answer } from '../http/agent.ts';
import type { Credentials } from './trial.ts';

type Fields = Record<string, string>;

export type Shown = Readonly<Record<'title' | 'text', string>>;

export class Player {
  /** The browser, as it goes to the application and as it goes to the server: two sites, so two agents do. */
  readonly shop: Agent;
  readonly #server: Agent;
  readonly #user: Credentials;

  constructor(user: Credentials, serverUrl: string, headers: Fields = {}) {
    this.shop = new Agent(user.open, { origin: user.open, ...headers });
    this.#server = new Agent(serverUrl);
    this.#user = user;
  }

  async ask(scope: string, fields: Fields = {}): Promise<Answer> {
    await this.shop.post('/ask', { scope, ...fields });
    return this.shop.get('/request');
  }

  /** Sends the request, decides, and brings the answer back. @returns the messages so far */
  async send(decision: 'allow' | 'reject' = 'allow'): Promise<Shown[]> {
    await this.shop.get(await this.bringAnswer(decision));
    return this.messages();
  }

  /** Posts the form of the application to the server and decides. @returns the address that the browser is sent back to */
  async bringAnswer(decision: 'allow' | 'reject' = 'allow'): Promise<string> {
    const { fields } = formTo(await this.shop.get('/request'), '/oauth/authorize');
    const user = { ...this.#user, userId: '', paymentPassword: this.#user.payment };
    const consent = await reachConsent(this.#server, fields, user);
    return (await decide(this.#server, consent, decision)).location ?? '';
  }

  async press(path: string, fields: Fields = {}): Promise<Shown[]> {
    await this.shop.post(path, fields);
    return this.messages();
  }

  async connect(scope: string, fields: Fields = {}): Promise<Shown[]> {
    await this.ask(scope, fields);
    return this.send();
  }

  pay(amount: string, fields: Fields = {}): Promise<Shown[]> {
    return this.press('/spend', { to: 'shop', payee: '337', source: 'wallet', amount, ...fields });
  }

  /** The page shows the newest first; here it is the last. */
  async messages(): Promise<Shown[]> {
    const $ = cheerio.load((await this.shop.get('/story')).body);
    return $('.message')
      .toArray()
      .reverse()
      .map((message) => ({
        title: readable($(message).find('h2').text()).replace(/^\d+ /, ''),
        text: readable($(message).text()),
      }));
  }
}

export function formTo(answer: Answer, path: string) {
  const form = answer.forms.find(({ action }) => action.endsWith(path));
  if (form === undefined) throw new Error(`no form to ${path}: ${answer.text}`);
  return form;
}

const readable = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
