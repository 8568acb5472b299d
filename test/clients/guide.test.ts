import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { freePort, type TestClient, useServer } from '../support/server.ts';
import { callerOf, decideAt } from './callers.ts';
import {
  block,
  describeWith,
  exampleFile,
  exampleNames,
  runBlock,
  startExample,
  useExampleFolder,
} from './examples.ts';

// The programs of examples/ and the commands of docs/integrate/guide.md run unchanged, with the answers of the guide.

const SCOPE = 'account-info payment-shop.limit(7,5000)';
const KINDS = [
  ['a verified application', true],
  ['an unverified application', false],
] as const;

const server = await useServer();
const user = await server.createUser();
const resource = await server.createResource();
const folder = useExampleFolder();

function settingsOf({ clientId, clientSecret }: TestClient): Record<string, string> {
  const secret = clientSecret === null ? {} : { CLIENT_SECRET: clientSecret };
  return { ASSENT_URL: server.baseUrl, CLIENT_ID: clientId, ...secret };
}

const introspected = (token: string) => introspect(server, resource, token);

it('the guide has exactly the tested commands', () => {
  expect(exampleNames()).toEqual(['introspect', 'revoke', 'revoke-by-bearer']);
});

function testWebExample(command: string, file: string): void {
  it.each(KINDS)(
    `the example ${file} connects an account as %s, and handles errors and forged responses`,
    async (_kind, verified) => {
      const port = await freePort();
      const home = `http://localhost:${port}/`;
      const client = await server.createClient({ verified, redirectUri: `${home}callback` });
      const variables = { ...settingsOf(client), PORT: String(port) };
      const { stdout, stderr, stop } = startExample(command, exampleFile(file), folder, variables);
      onTestFinished(stop);
      expect(await stdout.until(/^Open .+/m), stderr.text).toBe(`Open ${home}`);
      const agent = new Agent(server.baseUrl);

      /** Connects the account and decides. @returns the address that the browser is sent back to */
      async function comeBack(decision: 'allow' | 'reject' = 'allow'): Promise<URL> {
        const page = await agent.get(home);
        const link = /href="(.+?)"/.exec(page.body)?.[1];
        const left =
          link === undefined ? agent.submit(page, 'connect', {}) : agent.get(new URL(link, home).href);
        return decideAt(agent, (await left).location ?? '', user, decision);
      }

      const rejected = await agent.get((await comeBack('reject')).href);
      expect(rejected).toMatchObject({ status: 200, text: 'You said no. Change your mind' });

      const invalid = await comeBack();
      invalid.searchParams.set('code', 'assent_ac_nothing');
      const failed = await agent.get(invalid.href);
      expect(failed).toMatchObject({ status: 400, text: 'That didn’t work. Start again' });
      expect(await stderr.until(/invalid_grant/)).toBe('invalid_grant');

      const callback = await comeBack();
      const forged = new URL(callback);
      forged.searchParams.set('state', 'another');
      expect((await agent.get(forged.href)).status).toBe(400);
      expect((await new Agent(server.baseUrl).get(callback.href)).status).toBe(400);
      const answer = await agent.get(callback.href);
      expect(answer.text, stderr.text).toBe('Your account is connected.');
      expect((await agent.get(callback.href)).status).toBe(400);

      const token = readFileSync(join(folder, 'access-token'), 'utf8');
      const told = { active: true, client_id: client.clientId, username: user.login, scope: SCOPE };
      expect(await introspected(token)).toMatchObject(told);
      expect(statSync(join(folder, 'access-token')).mode & 0o077).toBe(0);
      expect(`${answer.body}${stdout.text}${stderr.text}`).not.toContain(token);
    },
  );
}

testWebExample(process.execPath, 'shop.mjs');
describeWith(['python3'], 'Python', () => testWebExample('python3', 'shop.py'));

describeWith(['bash', 'curl'], 'The curl commands of the guide', () => {
  it('show what a token allows, as printed in the guide', async () => {
    const printed = JSON.parse(block('answer: introspect')) as Record<string, unknown>;
    const client = await server.createClient();
    const fields = { scope: String(printed.scope), instance_name: String(printed.instance_name) };
    const token = await obtainToken(new Agent(server.baseUrl), client, user, fields);
    const { id: RESOURCE_ID, secret: RESOURCE_SECRET } = callerOf(resource);
    const variables = { ASSENT_URL: server.baseUrl, RESOURCE_ID, RESOURCE_SECRET, ACCESS_TOKEN: token };
    const answer = await runBlock('introspect', variables);
    expect(answer).toEqual({
      ...printed,
      client_id: client.clientId,
      username: user.login,
      sub: user.userId,
      grant_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect(Object.keys(answer)).toEqual(Object.keys(printed));
  });

  it.each(['revoke', 'revoke-by-bearer'])('revoke a token: example %s', async (name) => {
    const client = await server.createClient();
    const token = await obtainToken(new Agent(server.baseUrl), client, user);
    expect((await introspected(token)).active).toBe(true);
    expect(await runBlock(name, { ...settingsOf(client), ACCESS_TOKEN: token })).toEqual({});
    expect((await introspected(token)).active).toBe(false);
  });
});

describeWith(['bash', 'curl', 'openssl'], 'The curl example', () => {
  const REDIRECT_URI = 'http://localhost:8080/callback';

  /** Runs the script. @param decide the user's part, up to the address to paste */
  async function run(client: TestClient, decide: (url: string) => Promise<URL>) {
    const example = startExample('bash', exampleFile('shop.sh'), folder, settingsOf(client));
    onTestFinished(example.stop);
    const url = await example.stderr.until(/^http\S+(?=\n)/m);
    if (url !== undefined) example.type((await decide(url)).href);
    return { code: await example.ended(), stdout: example.stdout.text, stderr: example.stderr.text };
  }

  const by = (decision: 'allow' | 'reject') => (url: string) =>
    decideAt(new Agent(server.baseUrl), url, user, decision);
  const forge = async () => new URL(`${REDIRECT_URI}?state=another&code=assent_ac_other`);

  it.each(KINDS)('gets an active token for %s', async (_kind, verified) => {
    const client = await server.createClient({ verified, redirectUri: REDIRECT_URI });
    const { code, stdout, stderr } = await run(client, by('allow'));
    expect(code, stderr).toBe(0);
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(answer)).toEqual(['access_token', 'token_type', 'expires_in', 'grant_id']);
    const introspection = await introspected(String(answer.access_token));
    expect(introspection).toMatchObject({ active: true, client_id: client.clientId, scope: SCOPE });
  });

  it.each([
    ['the user rejects the request', by('reject'), 'You said no.'],
    ['the response has another state', forge, 'not the answer to this request'],
  ])('gets no token when %s', async (_what, decide, said) => {
    const client = await server.createClient({ redirectUri: REDIRECT_URI });
    const outcome = await run(client, decide);
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(said) });
  });
});
