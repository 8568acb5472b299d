import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { sha256 } from '../../src/secrets/digest.ts';
import { grantIdFor } from '../../src/secrets/grantId.ts';
import { randomSecret } from '../../src/secrets/random.ts';
import { formatToken, userSlotOf } from '../../src/secrets/tokens.ts';
import type { TestClient, TestUser } from './server.ts';

const INSERT = `
insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash, code_expires_at,
                    confirmed_at, client_revision, token_hash, token_issued_at)
select id, $1, $2, instance, 1, 'account-info', $3, code, clock_timestamp() + interval '10 minutes', clock_timestamp(), 1, token,
       case when token is not null then clock_timestamp() end
  from unnest($4::uuid[], $5::text[], $6::bytea[], $7::bytea[]) as made (id, instance, code, token)`;

/**
 * Codes or tokens of many instances at once, as approvals and exchanges leave them, but the codes are good for 10 minutes.
 *
 * @returns each of them
 */
export async function issue(
  pool: pg.Pool,
  kind: 'code' | 'token',
  count: number,
  { client, user }: { client: TestClient; user: TestUser },
): Promise<string[]> {
  const made = Array.from({ length: count }, () => {
    const instance = randomUUID();
    const id = grantIdFor(user.userId, client.clientId, instance);
    const place = { grantId: id, userSlot: userSlotOf(user.userId) };
    return { instance, id, secret: formatToken(kind, place, randomSecret()) };
  });
  const hashes = made.map(({ secret }) => sha256(secret));
  const none = made.map(() => null);
  await pool.query(INSERT, [
    user.userId,
    client.clientId,
    client.redirectUri,
    made.map(({ id }) => id),
    made.map(({ instance }) => instance),
    kind === 'code' ? hashes : made.map(() => sha256(randomSecret())),
    kind === 'token' ? hashes : none,
  ]);
  return made.map(({ secret }) => secret);
}
