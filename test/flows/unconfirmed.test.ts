import { beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { deriveGrantId } from '../../src/secrets/tokens.ts';
import {
  type Approval,
  approveGrant,
  type DecisionConfirmation,
} from '../../src/store/authorize/approvals.ts';
import { findUser } from '../../src/store/common/users.ts';
import { transaction } from '../../src/store/database/database.ts';
import { approvalOf } from '../support/http/samples.ts';
import { waitForLocks } from '../support/postgres/locks.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { type SignedIn, signedInUser } from './signedIn.ts';

// The statement that approves compares the proof of a confirmation with the user's row, even if the checks of tokens,
// passwords and answers before it accepted everything.

const server = await useServer();
const { pool } = server.database;
const SPENDING = 'account-info payment-shop.limit(7,1500)';
const SUB = 'sub-of-the-user';

let client: TestClient;
let by: SignedIn;
let hash: string;

beforeEach(async () => {
  [client, by] = [await server.createClient(), await signedInUser(server)];
  hash = by.session.paymentPasswordHash ?? '';
});

const set = (change: string, ...values: unknown[]) =>
  pool.query(`update users set ${change} where user_id = $1`, [by.user.userId, ...values]);

const ofPassword = (stored: string | null): DecisionConfirmation => ({
  by: 'payment_password',
  hash: stored ?? '',
});
const ofProvider = (sub: string): DecisionConfirmation => ({ by: 'provider', sub });

/** Hands a first approval to the statement, by default of what spends. */
function approve(proof: DecisionConfirmation, given: Partial<Approval> = {}) {
  const grantId = deriveGrantId(by.user.userId, client.clientId, null);
  const decided = { grantId, scope: SPENDING, sessionHash: by.session.sessionHash, codeHash: sha256('code') };
  return approveGrant(pool, { ...approvalOf(client, by.user), ...decided, proof, ...given });
}

async function approved(): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select coalesce(a.detail, '{}') as detail from grants g join audit_events a using (grant_id) where a.user_id = $1`,
    [by.user.userId],
  );
  return rows.map(({ detail }) => detail);
}

describe('approving a payment right', () => {
  const PROOFS: Record<string, () => DecisionConfirmation | Promise<DecisionConfirmation>> = {
    'no proof': () => null,
    'the previous payment password': async () => {
      const { session } = await signedInUser(server);
      await set('payment_password_hash = $2', session.paymentPasswordHash);
      return ofPassword(hash);
    },
    'the payment password of another user': async () =>
      ofPassword((await signedInUser(server)).session.paymentPasswordHash),
    'the password for sign-in': async () =>
      ofPassword((await findUser(pool, by.user.login))?.passwordHash ?? ''),
    'a confirmation by the provider for a local user': () => ofProvider(SUB),
  };

  it.each(Object.entries(PROOFS))('writes nothing with %s [unconfirmed-1]', async (_what, make) => {
    const proof = await make();
    const before = await rowsOf(server.database);
    expect(await approve(proof)).toBe('stale');
    expect(await rowsOf(server.database)).toBe(before);
  });

  it('requires the provider’s confirmation for a user of the provider', async () => {
    const sub = `${SUB} ${by.user.userId}`;
    await set('external_id = $2, payment_password_hash = null', sub);
    const before = await rowsOf(server.database);
    for (const proof of [null, ofProvider('another'), ofProvider(SUB), ofPassword(hash)])
      expect(await approve(proof, { confirmsPayments: true })).toBe('stale');
    expect(await rowsOf(server.database)).toBe(before);
    expect(await approve(ofProvider(sub), { confirmsPayments: true })).toBe('written');
    expect(await approved()).toMatchObject([{ confirmed_by: 'provider' }]);
  });

  it('requires no confirmation from a user without payment password, unless the operator does', async () => {
    await set('payment_password_hash = null');
    const before = await rowsOf(server.database);
    expect(await approve(null, { confirmsPayments: true })).toBe('stale');
    expect(await rowsOf(server.database)).toBe(before);
    expect(await approve(null)).toBe('written');
    expect(await approved()).toEqual([{}]);
  });

  it.each([
    ['changed', 'another hash'],
    ['set for the first time', 'a first hash'],
  ])('is refused if the payment password is %s while the statement waits', async (how, next) => {
    if (how !== 'changed') await set('payment_password_hash = null');
    const proof = how === 'changed' ? ofPassword(hash) : null;
    const [asked] = await transaction(pool, async (changing) => {
      const change = 'update users set payment_password_hash = $2 where user_id = $1';
      await changing.query(change, [by.user.userId, next]);
      const asked = approve(proof);
      await waitForLocks(pool, 1);
      return [asked];
    });
    expect(await asked).toBe('stale');
    expect(await approved()).toEqual([]);
  });
});
