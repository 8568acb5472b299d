import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { type NewClient, type RegisteredClient, registerClient } from '../../src/flows/operators/clients.ts';
import { registerResource } from '../../src/flows/operators/resources.ts';
import { registerUser } from '../../src/flows/operators/users.ts';
import { ledger } from './ledger.ts';

// Whom a test registers, straight in the database; their secrets are noted, to be looked for later.

/** A user as a test knows it. */
export interface TestUser {
  readonly userId: string;
  readonly login: string;
  readonly password: string;
  readonly paymentPassword: string | null;
}

/** A registered application as a test knows it. */
export interface TestClient extends Omit<RegisteredClient, 'hasNamesake'> {
  readonly redirectUri: string;
}

/** What a test may want different. */
export type NewUser = Partial<Omit<TestUser, 'userId'>> & { readonly name?: string };

export async function createUser(
  pool: pg.Pool,
  { name = 'Test User', ...given }: NewUser = {},
): Promise<TestUser> {
  const user = {
    login: `user-${unique()}`,
    password: `password-${unique()}`,
    paymentPassword: `payment-${unique()}`,
    ...given,
  };
  ledger.note('password', user.password);
  ledger.note('payment password', user.paymentPassword);
  return { ...user, userId: await registerUser(pool, { allowWeak: true, ...user, name }, 'tests') };
}

export async function createClient(pool: pg.Pool, given: Partial<NewClient> = {}): Promise<TestClient> {
  const client = {
    name: 'Test Shop',
    redirectUri: 'http://127.0.0.1:9/callback',
    verified: true,
    allowedRights: null,
    most: null,
    ...given,
  };
  const registered = await registerClient(pool, client, 'tests', { force: true });
  ledger.note('client secret', registered.clientSecret);
  return { ...registered, redirectUri: client.redirectUri };
}

/** @returns the value of an `Authorization` header for introspection */
export async function createResource(pool: pg.Pool): Promise<string> {
  const { resourceId, resourceSecret } = await registerResource(pool, 'payment API', 'tests');
  ledger.note('resource secret', resourceSecret);
  return `Basic ${Buffer.from(`${resourceId}:${resourceSecret}`).toString('base64')}`;
}

function unique(): string {
  return randomBytes(6).toString('hex');
}
