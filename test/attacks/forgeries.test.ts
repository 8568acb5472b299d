import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '../../src/secrets/keyRing.ts';
import { flowAt } from '../contract/flowAt.ts';
import { signedIn } from '../support/account.ts';
import { codeOf, decide } from '../support/flow.ts';
import { formWith } from '../support/http/agent.ts';
import { expectToken, expectTokenError } from '../support/http/tokenRequests.ts';
import { useServer } from '../support/server.ts';
import { open, sessionOf } from './browsers.ts';

// Our pages carry signed values. An attacker makes such a value, changes one, or sends one where another belongs.

const server = await useServer();

const KEY_ID_BYTES = 4;
const SIGNATURE_BYTES = 32;

const { user: victim, agent: browser, ...flow } = await flowAt(server);
const { reachPage, exchanged, introspected, writingNothing } = flow;
const shop = await server.createClient();

function partsOf(signed: string): { keyId: Buffer; payload: Buffer; signature: Buffer } {
  const bytes = Buffer.from(signed, 'base64url');
  return {
    keyId: bytes.subarray(0, KEY_ID_BYTES),
    payload: bytes.subarray(KEY_ID_BYTES, -SIGNATURE_BYTES),
    signature: bytes.subarray(-SIGNATURE_BYTES),
  };
}

/** Of a code or token: the place of its grant, then the secret. */
const bytesOf = (bearer: string) => Buffer.from(bearer.slice('assent_ac_'.length), 'base64url');
const PLACE_BYTES = 17;

const join = (...parts: Buffer[]) => Buffer.concat(parts).toString('base64url');

/** Forgeries of a signed value without its key; test/secrets/keyRing.test.ts has every bit and spelling. */
function forgeriesOf(signed: string): Record<string, string> {
  const { keyId, payload, signature } = partsOf(signed);
  const hmac = (key: string | Buffer) => createHmac('sha256', key).update(payload).digest();
  const later = Buffer.from(payload);
  later.writeUInt8(255, later.length - 3); // a later expiry
  return {
    'no signature': join(keyId, payload),
    'a plain digest as signature': join(keyId, payload, createHash('sha256').update(payload).digest()),
    'an empty key': join(keyId, payload, hmac('')),
    'the public key id as key': join(keyId, payload, hmac(keyId)),
    'the client secret as key': join(keyId, payload, hmac(shop.clientSecret ?? '')),
    'the session cookie as key': join(keyId, payload, hmac(sessionOf(browser) ?? '')),
    'the entry of another service': new KeyRing(['x'.repeat(40)]).sign('form', payload),
    'a later expiry': join(keyId, later, signature),
    'a signature that goes on': `${signed}AAAA`,
    'a JSON Web Token without algorithm': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${join(payload)}.`,
  };
}

it('a consent form is refused if its signature is missing, made with another key or extended [forgeries-1]', async () => {
  const form = formWith(await reachPage(shop), 'decision');
  for (const [forgery, decision_token] of Object.entries(forgeriesOf(form.fields.decision_token ?? ''))) {
    for (const decision of ['allow', 'reject']) {
      const forged = { ...form.fields, decision_token, decision };
      const answer = await writingNothing(() => browser.post(form.action, forged));
      expect([answer.status, answer.location?.includes(shop.redirectUri)], forgery).toEqual([303, false]);
    }
  }
  expect((await browser.post(form.action, { ...form.fields, decision: 'allow' })).status).toBe(302);
});

describe('a forged code or token', () => {
  it('can’t be derived from a page, or from another code or token of any kind [forgeries-2]', async () => {
    const page = await reachPage(shop);
    const { payload, signature } = partsOf(formWith(page, 'decision').fields.decision_token ?? '');
    const code = codeOf(await decide(browser, page, 'allow'));
    const grantId = bytesOf(code).subarray(0, 16);
    const digest = createHash('sha256').update(payload).digest();
    for (const secret of [signature, digest, Buffer.alloc(32), Buffer.alloc(32, 255)]) {
      expectTokenError(await exchanged(shop, `assent_ac_${join(grantId, secret)}`), 'invalid_grant');
      const token = `assent_at_${join(grantId, secret)}`;
      expect(await introspected(token)).toEqual({ active: false });
    }
    for (const other of [code, code.replace('assent_ac_', 'assent_at_')])
      expect(await introspected(other)).toEqual({ active: false });
    const token = expectToken(await exchanged(shop, code));
    for (const other of [token.replace('assent_at_', 'assent_ac_'), token])
      expectTokenError(await exchanged(shop, other), 'invalid_grant');
    expect(await introspected(token)).toMatchObject({ active: true });
  });

  it('can’t be guessed: codes, tokens, sessions and secrets have enough random bits [forgeries-3]', async () => {
    const secrets: Buffer[] = [];
    for (let times = 0; times < 6; times += 1) {
      const client = await server.createClient();
      const session = await signedIn(server, victim);
      const code = codeOf(await decide(session, await open(session, client), 'allow'));
      const token = expectToken(await exchanged(client, code));
      for (const bearer of [code, token]) secrets.push(bytesOf(bearer).subarray(PLACE_BYTES));
      secrets.push(Buffer.from(sessionOf(session) ?? '', 'base64url'));
      secrets.push(Buffer.from(client.clientSecret ?? '', 'hex'));
      expect(secrets.slice(-4).map(({ length }) => length)).toEqual([31, 31, 32, 32]);
    }
    // Two random texts of 248 bits differ in about 124, and never in 70 or fewer.
    for (const [index, one] of secrets.entries())
      for (const other of secrets.slice(index + 1)) expect(distance(one, other)).toBeGreaterThan(70);
  });
});

function distance(one: Buffer, other: Buffer): number {
  return one.reduce(
    (sum, byte, at) => sum + (byte ^ (other[at] ?? 0)).toString(2).replaceAll('0', '').length,
    0,
  );
}
