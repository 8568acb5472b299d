import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import { freePort, type TestClient, useServer } from '../support/server.ts';
import { callerOf, decideAt } from './callers.ts';
import {
  block,
  describeWith,
  environment,
  exampleFile,
  exampleNames,
  type RunningExample,
  startExample,
  useExampleFolder,
} from './examples.ts';

// docs/integrate/guide.md: its programs in examples/ and its commands run as they stand, and its answers are the real ones.

const SCOPE = 'account-info payment-shop.limit(7,5000)';
const KINDS = [
  ['a verified application', true],
  ['an application without verification', false],
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

function describeWebExample(command: string, file: string): void {
  describe.each(KINDS)(`the example ${file}, %s,`, (_kind, verified) => {
    let client: TestClient;
    let example: RunningExample | undefined;
    let home: string;
    let agent: Agent;

    beforeAll(async () => {
      const port = await freePort();
      home = `http://localhost:${port}/`;
      client = await server.createClient({ verified, redirectUri: `${home}callback` });
      example = startExample(command, exampleFile(file), folder, {
        ...settingsOf(client),
        PORT: String(port),
      });
      expect(await example.stdout.until(/^Open .+/m), example.stderr.text).toBe(`Open ${home}`);
      agent = new Agent(server.baseUrl);
    });

    afterAll(async () => {
      await example?.stop();
    });

    /** The user presses what connects the account. @returns the address that the browser goes to */
    async function connect(): Promise<string> {
      const page = await agent.get(home);
      const link = /href="(.+?)"/.exec(page.body)?.[1];
      if (link !== undefined) return (await agent.get(new URL(link, home).href)).location ?? '';
      const { action, fields } = formWith(page, 'connect');
      return (await agent.post(action, fields)).location ?? '';
    }

    const comeBack = async (decision: 'allow' | 'reject') => decideAt(agent, await connect(), user, decision);
    const isConnected = ({ text }: Answer) => text === 'Your account is connected.';
    const savedToken = () => readFileSync(join(folder, 'access-token'), 'utf8');

    it('gets an active token, in a private file, also when the page is loaded again', async () => {
      const callback = (await comeBack('allow')).href;
      const answer = await agent.get(callback);
      expect(isConnected(answer), example?.stderr.text).toBe(true);
      expect((await agent.get(callback)).status).toBe(400);
      expect(await introspected(savedToken())).toMatchObject({
        active: true,
        client_id: client.clientId,
        username: user.login,
        scope: SCOPE,
      });
      expect(statSync(join(folder, 'access-token')).mode & 0o077).toBe(0);
      expect(`${answer.body}${example?.stdout.text}${example?.stderr.text}`).not.toContain(savedToken());
    });

    it('handles a refusal', async () => {
      const answer = await agent.get((await comeBack('reject')).href);
      expect(answer).toMatchObject({ status: 200, text: 'You said no. Change your mind' });
    });

    it('ignores a response with a foreign state or from a foreign browser, and waits for the right one', async () => {
      const callback = await comeBack('allow');
      const forged = new URL(callback);
      forged.searchParams.set('state', 'another');
      expect((await agent.get(forged.href)).status).toBe(400);
      expect((await new Agent(server.baseUrl).get(callback.href)).status).toBe(400);
      expect(isConnected(await agent.get(callback.href))).toBe(true);
    });

    it('shows its operator the server’s error for an invalid code, and asks the user to start again', async () => {
      const callback = await comeBack('allow');
      callback.searchParams.set('code', 'assent_ac_nothing');
      const answer = await agent.get(callback.href);
      expect(answer).toMatchObject({ status: 400, text: 'That didn’t work. Start again' });
      expect(await example?.stderr.until(/invalid_grant/)).toBe('invalid_grant');
    });
  });
}

describeWebExample(process.execPath, 'shop.mjs');
describeWith(['python3'], 'Python', () => describeWebExample('python3', 'shop.py'));

describeWith(['bash', 'curl'], 'The commands', () => {
  async function run(name: string, variables: Record<string, string>): Promise<Record<string, unknown>> {
    const script = block(`example: ${name}`);
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: environment(variables) });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it('show what a token allows, as printed in the guide', async () => {
    const printed = JSON.parse(block('answer: introspect')) as Record<string, unknown>;
    const client = await server.createClient();
    const fields = { scope: String(printed.scope), instance_name: String(printed.instance_name) };
    const token = await obtainToken(new Agent(server.baseUrl), client, user, fields);
    const { id: RESOURCE_ID, secret: RESOURCE_SECRET } = callerOf(resource);
    const variables = { ASSENT_URL: server.baseUrl, RESOURCE_ID, RESOURCE_SECRET, ACCESS_TOKEN: token };
    const answer = await run('introspect', variables);
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

  it.each(['revoke', 'revoke-by-bearer'])('revoke a token by %s', async (name) => {
    const client = await server.createClient();
    const token = await obtainToken(new Agent(server.baseUrl), client, user);
    expect((await introspected(token)).active).toBe(true);
    expect(await run(name, { ...settingsOf(client), ACCESS_TOKEN: token })).toEqual({});
    expect((await introspected(token)).active).toBe(false);
  });
});

describeWith(['bash', 'curl', 'openssl'], 'The curl example', () => {
  const REDIRECT_URI = 'http://localhost:8080/callback';

  /** Runs the script; `decide` is the user's part, up to the address that is pasted. */
  async function run(client: TestClient, decide: (url: string) => Promise<URL>) {
    const example = startExample('bash', exampleFile('shop.sh'), folder, settingsOf(client));
    try {
      const url = await example.stderr.until(/^http\S+(?=\n)/m);
      if (url !== undefined) example.type((await decide(url)).href);
      return { code: await example.ended(), stdout: example.stdout.text, stderr: example.stderr.text };
    } finally {
      await example.stop();
    }
  }

  const allow = (url: string) => decideAt(new Agent(server.baseUrl), url, user, 'allow');
  const reject = (url: string) => decideAt(new Agent(server.baseUrl), url, user, 'reject');
  const forge = async () => new URL(`${REDIRECT_URI}?state=another&code=assent_ac_other`);

  it.each(KINDS)('gets an active token for %s', async (_kind, verified) => {
    const client = await server.createClient({ verified, redirectUri: REDIRECT_URI });
    const { code, stdout, stderr } = await run(client, allow);
    expect(code, stderr).toBe(0);
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(answer)).toEqual(['access_token', 'token_type', 'expires_in']);
    const introspection = await introspected(String(answer.access_token));
    expect(introspection).toMatchObject({ active: true, client_id: client.clientId, scope: SCOPE });
  });

  it.each([
    ['the user says no', reject, 'You said no.'],
    ['the answer has a foreign state', forge, 'not the answer to this request'],
  ])('gets no token when %s', async (_what, decide, said) => {
    const client = await server.createClient({ redirectUri: REDIRECT_URI });
    const outcome = await run(client, decide);
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(said) });
  });

  it('ends with the server’s error when the secret is wrong', async () => {
    const client = await server.createClient({ redirectUri: REDIRECT_URI });
    const { code, stdout } = await run({ ...client, clientSecret: 'f'.repeat(64) }, allow);
    expect(code).toBe(22); // curl: the server answered with an error
    expect(JSON.parse(stdout)).toMatchObject({ error: 'unauthorized_client' });
  });
});
