import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { registerClient } from '../../src/flows/operators/clients.ts';
import { registerResource } from '../../src/flows/operators/resources.ts';
import { registerUser } from '../../src/flows/operators/users.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { ledger } from '../support/ledger.ts';
import type { TestClient, TestUser } from '../support/server.ts';

/** Whoever is registered, as drivers know them. */
export interface Population {
  readonly users: readonly TestUser[];
  readonly clients: readonly TestClient[];
  /** Headers of a resource server. */
  readonly resource: string;
}

/** Registers who takes part, as operators do. */
export async function populate(ownerUrl: string, users: number, clients: number): Promise<Population> {
  const pool = openDatabase(ownerUrl);
  try {
    return {
      users: await Promise.all(Array.from({ length: users }, (_, index) => addUser(pool, index))),
      clients: await Promise.all(Array.from({ length: clients }, (_, index) => addClient(pool, index))),
      resource: await addResource(pool),
    };
  } finally {
    await pool.end();
  }
}

const newPassword = () => randomBytes(12).toString('hex');

async function addUser(pool: pg.Pool, index: number): Promise<TestUser> {
  const user = {
    login: `user-${index}`,
    password: newPassword(),
    paymentPassword: newPassword(),
  };
  ledger.note('password', user.password);
  ledger.note('payment password', user.paymentPassword);
  const userId = await registerUser(pool, { ...user, name: `User ${index}`, allowWeak: true }, 'faults');
  return { ...user, userId };
}

async function addClient(pool: pg.Pool, index: number): Promise<TestClient> {
  const redirectUri = 'http://127.0.0.1:9/callback';
  const client = {
    name: `Shop ${index}`,
    redirectUri,
    verified: index % 3 > 0,
    allowedRights: null,
    most: null,
  };
  const registered = await registerClient(pool, client, 'faults', { force: true });
  ledger.note('client secret', registered.clientSecret);
  return { ...registered, redirectUri };
}

async function addResource(pool: pg.Pool): Promise<string> {
  const { resourceId, resourceSecret } = await registerResource(pool, 'payment API', 'faults');
  ledger.note('resource secret', resourceSecret);
  return `Basic ${Buffer.from(`${resourceId}:${resourceSecret}`).toString('base64')}`;
}
