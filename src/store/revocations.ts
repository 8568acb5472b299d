import type { Caller } from './auditEvents.ts';
import { type Bytea, type Database, decideOne, momentOf, type Statement } from './database.ts';

/** Who takes a grant back, as the audit trail calls it. */
type RevocationKind = 'revoked_by_user' | 'revoked_by_application' | 'revoked_by_operator';

/** One way to revoke: which grants, by whom, and what is told of it. Values are numbered from 1, the deadline is the last. */
interface Revocation {
  readonly name: string;
  readonly kind: RevocationKind;
  /** Further tables that `which` and `answer` read. */
  readonly tables?: string;
  readonly which: string;
  readonly address: string;
  readonly reference: string;
  readonly deadline: string;
  /** The select list; `revoked` holds what is revoked now and was not before. */
  readonly answer: string;
}

// Rows are locked in the order of their keys, like everywhere, so that two of these can't block each other.
function revocation(way: Revocation): Statement {
  const text = `
with ${way.tables ?? ''} held as (
  select grant_id from grants where ${way.which} order by grant_id for no key update
), ${momentOf(way.deadline, 'held')}, revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from held, moment where g.grant_id = held.grant_id and g.revoked_at is null and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select '${way.kind}', revoked.*, ${way.address}, ${way.reference} from revoked
)
select ${way.answer}, late from moment`;
  return { name: way.name, text };
}

const ofUser = revocation({
  name: 'grant-revoke-of-user',
  kind: 'revoked_by_user',
  which: 'user_id = $1 and ($2::uuid is null or grant_id = $2)',
  address: '$3',
  reference: '$4',
  deadline: '$5',
  answer: 'array(select grant_id::text from revoked) as ids',
});

/**
 * The user disconnects an application instance, or all of them when `grantId` is null.
 *
 * @returns the ids of what is revoked now and was not before
 * @throws {TooLateError}
 */
export async function revokeGrantsOfUser(
  db: Database,
  userId: string,
  grantId: string | null,
  { address, reference, decideBy }: Caller,
): Promise<string[]> {
  const values = [userId, grantId, address, reference];
  return (await decideOne<{ ids: string[] }>(db, ofUser, values, decideBy)).ids;
}

/** An application that gives a token back, with how it says who it is. */
export interface RevocationByClient {
  /** Null for a token that we can't have made. */
  readonly grantId: string | null;
  readonly tokenHash: Bytea;
  readonly clientId: string;
  /** SHA-256 of the client secret; null when none was sent. */
  readonly secretHash: Bytea | null;
  readonly caller: Caller;
}

const byClient = revocation({
  name: 'grant-revoke-by-client',
  kind: 'revoked_by_application',
  tables: `client as (
  select c.client_id from clients c
   where c.client_id = $3 and c.status = 'active'
     and (not c.verified or exists (
           select from client_secrets s
            where s.client_id = c.client_id and s.secret_hash = $4 and s.retired_at is null))
),`,
  which: 'grant_id = $1 and token_hash = $2 and client_id = (select client_id from client)',
  address: '$5',
  reference: '$6',
  deadline: '$7',
  answer: 'exists (select from client) as authenticated',
});

/**
 * Revokes a token of the application itself.
 *
 * @returns whether the application is who it says
 * @throws {TooLateError}
 */
export async function revokeTokenOfClient(db: Database, given: RevocationByClient): Promise<boolean> {
  const { grantId, tokenHash, clientId, secretHash, caller } = given;
  const values = [grantId, tokenHash, clientId, secretHash, caller.address, caller.reference];
  const { decideBy } = caller;
  return (await decideOne<{ authenticated: boolean }>(db, byClient, values, decideBy)).authenticated;
}

const byBearer = revocation({
  name: 'grant-revoke-by-bearer',
  kind: 'revoked_by_application',
  which: 'grant_id = $1 and token_hash = $2',
  address: '$3',
  reference: '$4',
  deadline: '$5',
  answer: 'exists (select from revoked) as revoked',
});

/** Revokes a token for whoever holds it. @throws {TooLateError} */
export async function revokeTokenOfBearer(
  db: Database,
  grantId: string,
  tokenHash: Bytea,
  { address, reference, decideBy }: Caller,
): Promise<void> {
  await decideOne(db, byBearer, [grantId, tokenHash, address, reference], decideBy);
}

const byOperator = revocation({
  name: 'grant-revoke-by-operator',
  kind: 'revoked_by_operator',
  which: 'grant_id = $1',
  address: 'null',
  reference: 'null',
  deadline: '$2',
  answer: 'exists (select from held) as found, exists (select from revoked) as revoked',
});

/**
 * The operator takes a grant back.
 *
 * @returns `found`: there is such a grant; `revoked`: it is revoked now and was not before
 * @throws {TooLateError}
 */
export function revokeGrant(
  db: Database,
  grantId: string,
  decideBy: number,
): Promise<{ found: boolean; revoked: boolean }> {
  return decideOne(db, byOperator, [grantId], decideBy);
}
