import { openDatabase } from '../../src/store/database/database.ts';
import { createClient, createResource, createUser } from '../support/registrations.ts';
import type { TestClient, TestUser } from '../support/server.ts';

export interface Population {
  readonly users: readonly [TestUser, ...TestUser[]];
  readonly clients: readonly [TestClient, ...TestClient[]];
  readonly resource: string;
}

export async function populate(ownerUrl: string, users: number, clients: number): Promise<Population> {
  const pool = openDatabase(ownerUrl);
  const each = <Made>(count: number, make: (index: number) => Promise<Made>) =>
    Promise.all(Array.from({ length: count }, (_, index) => make(index))) as Promise<[Made, ...Made[]]>;
  try {
    return {
      users: await each(users, () => createUser(pool)),
      clients: await each(clients, (index) => createClient(pool, { verified: index % 3 > 0 })),
      resource: await createResource(pool),
    };
  } finally {
    await pool.end();
  }
}
