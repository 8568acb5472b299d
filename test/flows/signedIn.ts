import { sha256 } from '../../src/secrets/digest.ts';
import type { NewSession } from '../../src/store/common/sessions.ts';
import { findUser } from '../../src/store/common/users.ts';
import { sessionOf, signedIn } from '../support/account.ts';
import type { TestServer, TestUser } from '../support/server.ts';

export type SignedIn = Awaited<ReturnType<typeof signedInUser>>;

/** A user, a browser, and its session. */
export async function signedInUser(
  server: TestServer,
  given?: TestUser,
  headers: Record<string, string> = {},
) {
  const user = given ?? (await server.createUser());
  const agent = await signedIn(server, user, headers);
  return { user, agent, session: await sessionOf(server, agent) };
}

/** A sign-in by the password that the user has now, as it is handed to the store. */
export async function newSessionOf(
  { database }: TestServer,
  { login }: TestUser,
  cookie: string,
): Promise<NewSession> {
  const { userId = '', passwordHash } = (await findUser(database.pool, login)) ?? {};
  const origin = { browser: null, system: null, network: null, knownDevice: false };
  const of = { sessionHash: sha256(cookie), userId, passwordHash: passwordHash ?? '' };
  return { ...of, ...origin, externalId: null, earlierHash: null };
}
