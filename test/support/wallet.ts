import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { afterAll, beforeEach } from 'vitest';
import type { ProviderSettings } from '../../src/flows/common/provider.ts';
import { s256 } from '../../src/secrets/digest.ts';
import type { Agent, Answer } from './http/agent.ts';
import { change } from './http/tokenRequests.ts';
import { ledger } from './ledger.ts';
import { freePort } from './server.ts';

// An OpenID provider inside the test's process. It signs in its user at once, without a page.

interface Replaced {
  readonly claims?: JWTPayload;
  readonly without?: string;
  readonly header?: Partial<JWTHeaderParameters>;
  readonly key?: CryptoKey | Uint8Array;
  readonly idToken?: (claims: JWTPayload, signed: string) => string;
  /** Parameters of the callback; undefined leaves one out. */
  readonly callback?: Record<string, string | undefined>;
  readonly token?: { readonly status: number; readonly body: string; readonly challenge?: string } | null;
  readonly held?: Promise<unknown>;
  /** The `authorization_details` of the token response (RFC 9396, section 7); undefined for none. */
  readonly details?: unknown;
  readonly metadata?: Record<string, unknown>;
  /** The answer of userinfo, beside the `sub`; null for none. */
  readonly userInfo?: Record<string, unknown> | null;
  /** A path that is answered by 150 MB, perhaps compressed, or with a length that isn't theirs. */
  readonly huge?: { readonly path: string; readonly headers: Record<string, string> };
}

interface Asked {
  readonly query: URLSearchParams;
  readonly sub: string;
}

export type Wallet = Awaited<ReturnType<typeof openWallet>>;

/** @param settings of the server whose users sign in there */
export async function openWallet(settings: Partial<ProviderSettings> = {}) {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const [clientId, clientSecret] = ['assent', `secret-at-the-wallet-${randomUUID()}`];
  ledger.note('client secret', clientSecret);
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const codes = new Map<string, Asked>();
  const subOf = new Map<string, string>();
  const wallet = {
    issuer,
    settings: { issuer, clientId, clientSecret, paymentAcr: null, createsUsers: true, ...settings },
    variables: { SIGN_IN_ISSUER: issuer, SIGN_IN_CLIENT_ID: clientId, SIGN_IN_CLIENT_SECRET: clientSecret },
    user: { sub: 'sub-1' } as JWTPayload & { readonly sub: string },
    replaced: {} as Replaced,
    exchanges: [] as { readonly authorization: string | undefined; readonly form: URLSearchParams }[],
    questions: 0,
    up,
    down,
  };

  const routes: Record<string, (request: IncomingMessage, url: URL) => Promise<Response | null>> = {
    '/.well-known/openid-configuration': async () =>
      Response.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...wallet.replaced.metadata,
      }),
    '/jwks': async () =>
      Response.json({ keys: [{ ...(await exportJWK(publicKey)), kid: '1', alg: 'RS256' }] }),
    '/authorize': async (_request, { searchParams: query }) => {
      for (const name of ['state', 'nonce']) ledger.note('sign-in secret', query.get(name));
      const code = `code-${randomUUID()}`;
      codes.set(code, { query, sub: wallet.user.sub });
      const right = { code, state: query.get('state') ?? '', iss: issuer };
      const answer = new URLSearchParams(change(right, wallet.replaced.callback ?? {}));
      return Response.redirect(`${query.get('redirect_uri')}?${answer}`);
    },
    '/token': async (request) => {
      const form = new URLSearchParams(await text(request));
      ledger.note('code verifier', form.get('code_verifier'));
      wallet.exchanges.push({ authorization: request.headers.authorization, form });
      const { token, held } = wallet.replaced;
      await held;
      if (token !== undefined) return token && responseOf(token);
      const code = form.get('code') ?? '';
      const asked = codes.get(code);
      codes.delete(code);
      const isProven = asked?.query.get('code_challenge') === s256(form.get('code_verifier') ?? '');
      if (!asked || !isProven) return Response.json({ error: 'invalid_grant' }, { status: 400 });
      const tokens = { access_token: `token-${randomUUID()}`, id_token: await idTokenFor(asked) };
      for (const value of Object.values(tokens)) ledger.note('sign-in secret', value);
      subOf.set(`Bearer ${tokens.access_token}`, asked.sub);
      const authorization_details = wallet.replaced.details;
      return Response.json({ ...tokens, token_type: 'Bearer', expires_in: 60, authorization_details });
    },
    '/userinfo': async ({ headers }) => {
      wallet.questions += 1;
      const { userInfo } = wallet.replaced;
      const sub = subOf.get(headers.authorization ?? '');
      return userInfo === null
        ? null
        : Response.json({ sub, ...userInfo }, { status: sub === undefined ? 401 : 200 });
    },
  };

  async function idTokenFor({ query, sub }: Asked): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const ofUser = { ...wallet.user, sub, acr: query.get('acr_values') ?? 'login', auth_time: now };
    const times = { iat: now, exp: now + 60 };
    const right = { iss: issuer, aud: clientId, nonce: query.get('nonce'), ...times, ...ofUser };
    const { claims: others, without, header, key = privateKey, idToken } = wallet.replaced;
    const claims = Object.entries({ ...right, ...others }).filter(([name]) => name !== without);
    const token = new SignJWT(Object.fromEntries(claims));
    const signed = await token.setProtectedHeader({ alg: 'RS256', kid: '1', ...header }).sign(key);
    return idToken?.(right, signed) ?? signed;
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    const { huge } = wallet.replaced;
    if (huge?.path === url.pathname) return sendHuge(response, huge.headers);
    const route = routes[url.pathname] ?? (async () => Response.json({}, { status: 404 }));
    const reply = await route(request, url);
    if (reply === null) return;
    response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
  });

  async function up(): Promise<void> {
    await once(server.listen(port, 'localhost'), 'listening');
  }

  async function down(): Promise<void> {
    const closed = once(server.close(), 'close');
    server.closeAllConnections();
    await closed;
  }

  await up();
  return wallet;
}

/** A wallet for all tests of a file. Each test begins without replacements. */
export async function useWallet(settings: Partial<ProviderSettings> = {}): Promise<Wallet> {
  const wallet = await openWallet(settings);
  afterAll(() => wallet.down());
  beforeEach(() => {
    wallet.replaced = {};
    wallet.exchanges.length = 0;
    wallet.questions = 0;
    wallet.user = { sub: `sub-${randomUUID()}` };
  });
  return wallet;
}

/** Where a browser goes on: by a redirect, by a page that leads on, or by "Confirm at …" on the page of a decision. */
const nextOf = ({ location, headers, page, body }: Answer) =>
  location ??
  /^0; url=(.+)$/.exec(headers.get('refresh') ?? '')?.[1] ??
  (page === 'confirm' ? /href="(\/oauth\/sign-in\?[^"]*decision=[^"]*)"/.exec(body) : null)?.[1]?.replaceAll(
    '&amp;',
    '&',
  ) ??
  null;

async function walk(agent: Agent, from: string | Answer, goesOn: (next: URL) => boolean) {
  let answer = typeof from === 'string' ? await agent.get(from) : from;
  for (let steps = 0; steps < 12; steps += 1) {
    const address = nextOf(answer);
    const next = address === null ? null : new URL(address, agent.baseUrl);
    if (next === null || !goesOn(next)) return { answer, next };
    answer = await agent.get(next.href);
  }
  throw new Error('the way has no end');
}

type At = Pick<Wallet, 'issuer'>;

/** Leaves for the wallet from one of our pages. @returns the address there */
export async function leaveFor({ issuer }: At, agent: Agent, from: string | Answer): Promise<string> {
  const { answer, next } = await walk(agent, from, ({ origin }) => origin !== issuer);
  if (next === null) throw new Error(`no way to the wallet: ${answer.status} ${answer.page} ${answer.text}`);
  return next.href;
}

export async function callbackOf(agent: Agent, address: string): Promise<string> {
  return (await agent.get(address)).location ?? '';
}

export async function passWallet(wallet: Wallet, agent: Agent, from: string | Answer): Promise<Answer> {
  return agent.get(await callbackOf(agent, await leaveFor(wallet, agent, from)));
}

/** Goes wherever answers lead, also through the wallet, up to a page or the application. */
export async function goOn({ issuer }: At, agent: Agent, from: string | Answer): Promise<Answer> {
  const { answer } = await walk(agent, from, ({ origin }) => [agent.baseUrl, issuer].includes(origin));
  return answer;
}

function responseOf({ status, body, challenge }: NonNullable<Replaced['token']>): Response {
  const type = body.startsWith('{') ? 'application/json' : 'text/html';
  const headers = { 'content-type': type, ...(challenge && { 'www-authenticate': challenge }) };
  return new Response(body, { status, headers });
}

async function sendHuge(response: ServerResponse, headers: Record<string, string>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  const parts = Readable.from(hugeParts());
  const ways = headers['content-encoding'] === 'gzip' ? [createGzip()] : [];
  await pipeline([parts, ...ways, response]).catch(() => undefined);
}

function* hugeParts() {
  yield '{"error":"';
  for (let megabytes = 0; megabytes < 150; megabytes += 1) yield 'x'.repeat(1_000_000);
  yield '"}';
}
