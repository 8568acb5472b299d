import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Agent, type Answer, type Form } from '../support/agent.ts';
import { reachConsent, requestOf } from '../support/flow.ts';
import type { TestClient, TestServer, TestUser } from '../support/server.ts';

// What the attacks share: browsers of victims and of attackers, and forms that are sent in ways no page would.

export type Fields = Record<string, string>;

/** The address of an authorization request, as an application or an attacker puts it into a link. */
export function linkTo(fields: Fields): string {
  return `/oauth/authorize?${new URLSearchParams(fields)}`;
}

/** The page that a browser gets for a request. */
export function open(browser: Agent, client: TestClient, fields: Fields = {}): Promise<Answer> {
  return browser.get(linkTo(requestOf(client, fields)));
}

/** A browser in which `user` is signed in, on the way to `client`. */
export async function signedIn(server: TestServer, client: TestClient, user: TestUser): Promise<Agent> {
  const browser = new Agent(server.baseUrl);
  await reachConsent(browser, requestOf(client), user);
  return browser;
}

/** The cookie that says who is signed in; undefined when nobody is. */
export function sessionOf(browser: Agent): string | undefined {
  return browser.cookies.get('assent_session');
}

/** The form of a page that is sent to `action`. */
export function formTo(answer: Answer, action: string): Form {
  const form = answer.forms.find((each) => each.action === action);
  if (form === undefined)
    throw new Error(`the page ${answer.page} (${answer.status}) has no form to ${action}`);
  return form;
}

/** Signs in by the form of a page, whoever is signed in already. */
export function signIn(browser: Agent, page: Answer, { login, password }: TestUser): Promise<Answer> {
  return browser.submit(page, 'login', { login, password });
}

/** Sends a request with headers that `fetch` would not send. @returns the whole answer as text, headers in lower case */
export function rawRequest(
  { baseUrl }: TestServer,
  method: string,
  path: string,
  headers: Fields = {},
  body = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(baseUrl, { method, path, headers, agent: false }, async (answer) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
      resolve([answer.statusCode, ...lines, '', await text(answer)].join('\n'));
    });
    asked.on('error', reject).end(body);
  });
}
