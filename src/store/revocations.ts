import type { Digest } from '../secrets/digest.ts';
import type { Caller } from './auditEvents.ts';
import { batched } from './batch.ts';
import {
  asciiOnly,
  type Database,
  decide,
  decideOne,
  inOrder,
  momentOf,
  type Statement,
} from './database.ts';
import { LIVE } from './grants.ts';

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
  readonly operator?: string;
  readonly deadline: string;
  /** The select list; `revoked` holds what is revoked now and was not before. */
  readonly answer: string;
  /** What it is selected from, where that is more than the one row of `moment`. */
  readonly from?: string;
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
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference, operator)
  select '${way.kind}', revoked.*, ${way.address}, ${way.reference}, ${way.operator ?? 'null'} from revoked
)
select ${way.answer}, late from ${way.from ?? 'moment'}`;
  return { name: way.name, text };
}

const ofUser = revocation({
  name: 'grant-revoke-of-user',
  kind: 'revoked_by_user',
  which: 'user_id = $1 and grant_id = $2',
  address: '$3',
  reference: '$4',
  deadline: '$5',
  answer: 'exists (select from revoked) as revoked',
});

/** The user disconnects an application instance. @throws {TooLateError} */
export async function revokeGrantOfUser(
  db: Database,
  userId: string,
  grantId: string,
  { address, reference, decideBy }: Caller,
): Promise<void> {
  await decideOne(db, ofUser, [userId, grantId, address, reference], decideBy);
}

/** Authorizations for a transaction: whoever needs one of them waits for some tens of milliseconds. */
export const MAX_AT_ONCE = 500;

const ofUserAndClient = revocation({
  name: 'grant-revoke-of-user-and-client',
  kind: 'revoked_by_user',
  which: `grant_id = any (array(
    select grant_id from (select * from grants where user_id = $1 offset 0) g
     where client_id = $2 and ${LIVE} order by grant_id limit ${MAX_AT_ONCE}))`,
  address: '$3',
  reference: '$4',
  deadline: '$5',
  answer: `(select count(*) from held) = ${MAX_AT_ONCE} as "goesOn"`,
});

/**
 * The user disconnects live instances of an application.
 *
 * @returns whether there may be more of them
 * @throws {TooLateError}
 */
export async function revokeGrantsOfUserAndClient(
  db: Database,
  userId: string,
  clientId: string,
  { address, reference, decideBy }: Caller,
): Promise<boolean> {
  const values = [userId, clientId, address, reference];
  return (await decideOne<{ goesOn: boolean }>(db, ofUserAndClient, values, decideBy)).goesOn;
}

/** A token that is given back, and by whom. */
export interface TokenRevocation {
  /** Null for a token that we can't have made. */
  readonly grantId: string | null;
  readonly tokenHash: Digest;
  /** The application that says so; null when it is enough to hold the token. */
  readonly clientId: string | null;
  /** SHA-256 of the client secret; null when none was sent. */
  readonly secretHash: Digest | null;
  readonly caller: Caller;
}

/** Whether the application is who it says; `late` when nothing was done because it came too late. */
export interface TokenRevocationAnswer {
  readonly authenticated: boolean;
  readonly late: boolean;
}

const OF_TOKEN = `from entitled e join grants using (grant_id, token_hash)
                 where grant_id = revoked.grant_id order by e.n limit 1`;

const byToken = revocation({
  name: 'grant-revoke-by-token',
  kind: 'revoked_by_application',
  tables: `asked as materialized (
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::text[], $6::text[]) with ordinality
           as a (grant_id, token_hash, client_id, secret_hash, address, reference, n)
), entitled as materialized (
  select a.* from asked a
   where a.client_id is null or exists (
           select from clients c
            where c.client_id = a.client_id and c.status = 'active'
              and (not c.verified or exists (
                    select from client_secrets s
                     where s.client_id = c.client_id and s.secret_hash = a.secret_hash and s.retired_at is null)))
),`,
  which: `grant_id = any ($1::uuid[]) and exists (
   select from entitled e
    where e.grant_id = grants.grant_id and e.token_hash = grants.token_hash
      and (e.client_id is null or e.client_id = grants.client_id))`,
  address: `(select e.address ${OF_TOKEN})`,
  reference: `(select e.reference ${OF_TOKEN})`,
  deadline: '$7',
  answer: 'asked.n::int as n, entitled.n is not null as authenticated',
  from: 'moment cross join asked left join entitled using (n)',
});

/** Revokes the token that is given back. */
export const revokeToken = batched(revokeTokens);

/** Revokes tokens, any number in one statement. Asked twice it does no harm. @returns an answer for each, in the same order */
async function revokeTokens(
  db: Database,
  given: readonly TokenRevocation[],
): Promise<TokenRevocationAnswer[]> {
  const values = [
    given.map(({ grantId }) => grantId),
    given.map(({ tokenHash }) => tokenHash),
    given.map(({ clientId }) => clientId && asciiOnly(clientId)),
    given.map(({ secretHash }) => secretHash),
    given.map(({ caller }) => caller.address),
    given.map(({ caller }) => caller.reference),
  ];
  const decideBy = Math.min(...given.map(({ caller }) => caller.decideBy));
  const rows = await decide<TokenRevocationAnswer & { n: number }>(db, byToken, values, decideBy);
  return inOrder(given, rows).map((row, index) => {
    if (row === null) throw new Error(`grants: no answer about the token of ${given[index]?.grantId}`);
    return row;
  });
}

const byOperator = revocation({
  name: 'grant-revoke-by-operator',
  kind: 'revoked_by_operator',
  which: 'grant_id = any ($1::uuid[])',
  address: 'null',
  reference: 'null',
  operator: '$2',
  deadline: '$3',
  answer: '(select count(*)::int from held) as found, (select count(*)::int from revoked) as revoked',
});

/**
 * The operator takes grants back.
 *
 * @returns `found`: how many of them there are; `revoked`: how many are revoked now and were not before
 * @throws {TooLateError}
 */
export function revokeGrants(
  db: Database,
  grantIds: readonly string[],
  operator: string,
  decideBy: number,
): Promise<{ found: number; revoked: number }> {
  return decideOne(db, byOperator, [grantIds, operator], decideBy);
}
