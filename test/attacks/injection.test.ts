import * as cheerio from 'cheerio';
import { expect, it } from 'vitest';
import { follow } from '../support/account.ts';
import { confirm, obtainToken, press, tokenRequestOf, verdictOn } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { postToken } from '../support/http/tokenRequests.ts';
import { useServer } from '../support/server.ts';
import { open, signIn } from './browsers.ts';

// An attacker has text shown, looked up or logged that a browser, a template engine, the database or the log might take
// for more. The server of this file logs at the level trace.

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const shop = await server.createClient();

/** The elements of a page with the names of their attributes, in order: markup in a text would change them. */
function skeletonOf({ body }: Answer): string[] {
  const $ = cheerio.load(body);
  const namesOf = (attributes: object = {}) => Object.keys(attributes).toSorted();
  return $('*')
    .map((_, element) => `${$(element).prop('tagName')} ${namesOf($(element).attr())}`)
    .get();
}

const HARMLESS = { name: 'Harmless', login: 'harmless', target: 'shop', instance: 'phone', state: 's' };
const MARKUP = `"'></bdi></title><script>alert(1)</script><img src=x onerror=alert(1)><!--<%=7*7%>\${7*7}`;
/** The same without white space, which a target can't have. */
const TARGET = MARKUP.replaceAll(' ', '/');
const HOSTILE = { name: MARKUP, login: `${MARKUP}x`, target: TARGET, instance: MARKUP, state: MARKUP };

async function pagesWith(texts: typeof HARMLESS): Promise<Answer[]> {
  const quoted = `"${texts.target.replaceAll(/["\\]/g, '\\$&')}"`;
  const client = await server.createClient({ name: texts.name });
  const someone = await server.createUser({ name: texts.name, login: texts.login });
  const scope = `payment.to-pattern(${quoted})`;
  const request = { scope, instance_name: texts.instance, state: texts.state };
  const agent = new Agent(server.baseUrl);
  const signInPage = await open(agent, client, request);
  const wrong = await follow(agent, await signIn(agent, signInPage, { ...someone, password: 'wrong' }));
  await signIn(agent, wrong, someone);
  await obtainToken(agent, client, someone, request);
  const consent = await open(agent, client, request);
  const payment = await follow(agent, await press(agent, consent, 'allow'));
  const refused = await follow(agent, await confirm(agent, payment, '<svg onload=confirm(2)>'));
  const receipt = await follow(agent, await confirm(agent, payment, someone.paymentPassword));
  return [signInPage, wrong, consent, payment, refused, receipt, await agent.get('/oauth/account')];
}

it('HTML and template syntax in names, logins, states and targets is escaped on every page [injection-1]', async () => {
  const [harmless, hostile] = [await pagesWith(HARMLESS), await pagesWith(HOSTILE)];
  const names = ['sign-in', 'sign-in', 'consent', 'confirm', 'confirm', 'receipt', 'account'];
  expect(hostile.map(({ page }) => page)).toEqual(names);
  for (const [index, page] of hostile.entries()) {
    const twin = harmless[index];
    if (twin) expect(skeletonOf(page)).toEqual(skeletonOf(twin));
    expect(page.text).toContain(MARKUP);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
  }
});

it('SQL and wildcards are text in a login: none finds a user, even with the right password [injection-2]', async () => {
  const { login, password } = await server.createUser({ paymentPassword: null });
  const wildcards = ['*', '%', `${login.slice(0, -1)}_`, `${login.slice(0, 4)}%`, `${login.slice(0, 4)}*`];
  const ends = [`${login}' --`, `${login})(uid=*`, `' or login_key='${login}`, `${login}\\`, `(${login})`];
  for (const typed of [...wildcards, ...ends]) {
    const stranger = new Agent(server.baseUrl);
    const answer = await signIn(stranger, await open(stranger, shop), { ...user, login: typed, password });
    expect([typed, await verdictOn(stranger, answer)]).toEqual([typed, 'wrong']);
    expect((await stranger.get('/oauth/account')).page).toBe('sign-in');
  }
});

const NAME =
  /^(level|time|pid|hostname|ref|method|path|status|address|ms|client_id|outcome|error|rule|rule_id|msg)$/;

it('a log line is one JSON object with Assent’s own keys, whatever a request contains [injection-3]', async () => {
  const forged = '\r\n{"level":30,"ref":"forged","msg":"approved"}\r\n\u001b[2Kforged\u2028';
  const stranger = new Agent(server.baseUrl);
  const from = server.logLines.length;
  await signIn(stranger, await open(stranger, shop), { ...user, login: forged, password: forged });
  for (const field of ['client_id', 'redirect_uri', 'scope', 'state', 'response_type', 'instance_name'])
    await open(stranger, shop, { [field]: forged });
  await postToken(server, tokenRequestOf(shop, forged, { client_id: forged, client_secret: forged }));
  await stranger.get(`/${encodeURIComponent(forged)}`);
  await stranger.get(`/oauth/account%0d%0aforged?${encodeURIComponent(forged)}`);
  await stranger.get('/oauth/account', { 'user-agent': 'x\tforged', 'x-request-id': 'forged' });
  const text = server.logLines.slice(from).join('');
  for (const part of ['forged', '\u001b', '\u2028']) expect(text).not.toContain(part);
  const lines = text.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines)
    expect(Object.keys(JSON.parse(line)).filter((name) => !NAME.test(name))).toEqual([]);
});
