import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import * as clients from '../../src/operations/clients.ts';
import { perform } from '../../src/operations/operation.ts';
import * as users from '../../src/operations/users.ts';
import { write } from '../../src/store/database/query.ts';
import { ledger } from './ledger.ts';
import { type NewClient, registerResource } from './operators.ts';

// Registers users, applications and resource servers in the database, and notes their secrets.

export interface TestUser {
  readonly userId: string;
  readonly login: string;
  readonly password: string;
  readonly paymentPassword: string | null;
}

export interface TestClient {
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
}

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
  const as = { db: pool, operator: { name: 'tests' } };
  const { userId } = await perform(users.create, as, { allowWeak: true, ...user, name });
  return { ...user, userId };
}

/** The revisions of a client, which begin at random otherwise: tests name them. */
const countFromOne = write<{ clientId: string }>(
  '',
)`update clients set revision = 1 where client_id = @clientId`;

export async function createClient(pool: pg.Pool, given: Partial<NewClient> = {}): Promise<TestClient> {
  const client = {
    name: 'Test Shop',
    redirectUri: 'http://127.0.0.1:9/callback',
    verified: true,
    force: true,
    ...given,
  };
  const as = { db: pool, operator: { name: 'tests' } };
  const { clientId, redirectUri, clientSecret = null } = await perform(clients.create, as, client);
  ledger.note('client secret', clientSecret);
  await countFromOne(pool, { clientId });
  return { clientId, redirectUri, clientSecret };
}

/** @returns the value of an `Authorization` header for introspection */
export async function createResource(pool: pg.Pool): Promise<string> {
  const { resourceId, resourceSecret } = await registerResource(pool, 'payment API', 'tests');
  ledger.note('resource secret', resourceSecret);
  return `Basic ${Buffer.from(`${resourceId}:${resourceSecret}`).toString('base64')}`;
}

function unique(): string {
  return randomBytes(12).toString('hex');
}
