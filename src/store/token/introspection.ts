import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { Digest } from '../../secrets/digest.ts';
import { parseToken } from '../../secrets/tokens.ts';
import { type Grant, IS_LIVE } from '../common/grants.ts';
import { IS_FIRST_USE, noteUse, SECRET_IS_ACCEPTED, type SecretOwner } from '../common/secrets.ts';
import type { User } from '../common/users.ts';
import { batched, findOneBatched } from '../database/batch.ts';
import { findEach, requireRow, writeEach } from '../database/query.ts';

const TODAY = `(clock_timestamp() at time zone 'UTC')::date`;

/** For `grants g`: true if a use now is the day's (UTC) first of a valid authorization. */
const IS_FIRST_USE_OF_GRANT = `g.last_used_on is distinct from ${TODAY} and ${IS_LIVE}`;

interface GrantUse {
  readonly grantId: string;
  /** With another token the row is another authorization, which was not used. */
  readonly tokenHash: Digest;
}

// Locks only grants, without waiting: a locked row is being noted, or decided on, and is noted with its next use.
const markGrantsUsed = writeEach<GrantUse>('grant-mark-used')`
update grants set last_used_on = ${TODAY}
 where grant_id = any (array(
   select g.grant_id from grants g
    where g.grant_id = any (@grant_id::uuid[]) and g.token_hash = any (@token_hash::bytea[]) and ${IS_FIRST_USE_OF_GRANT}
      for no key update skip locked))`;

/** Rows that one statement locks: an exchange or an approval of one of them waits for some tens of milliseconds. */
const MAX_ROWS_A_STATEMENT = 500;
/** Uses wait this long for others, so that noting them takes few statements. */
const NOTED_EVERY_MS = 250;
/** If there are more, some are noted with their next use. */
const MAX_WAITING = 10 * MAX_ROWS_A_STATEMENT;

/** By pool: the uses to note. One statement at a time, so that a locked table takes one connection. */
const waiting = new WeakMap<pg.Pool, GrantUse[]>();

/** Notes today as the day of last use of some grants. It is not awaited, and a use that can't be noted is lost. */
export function recordGrantUses(db: pg.Pool, uses: readonly GrantUse[]): void {
  if (uses.length === 0) return;
  const all = waiting.get(db) ?? [];
  all.push(...uses.slice(0, MAX_WAITING - all.length));
  if (waiting.has(db)) return;
  waiting.set(db, all);
  void noteAll(db, all);
}

/** Also those that are added meanwhile. */
async function noteAll(db: pg.Pool, uses: GrantUse[]): Promise<void> {
  while (uses.length > 0) {
    await setTimeout(NOTED_EVERY_MS, undefined, { ref: false });
    const round = uses.splice(0);
    while (round.length > 0) await markGrantsUsed(db, round.splice(0, MAX_ROWS_A_STATEMENT)).catch(() => {});
  }
  waiting.delete(db);
}

interface IntrospectionRequest {
  /** The resource server, or the application. */
  readonly callerId: string;
  /** SHA-256 of its secret. */
  readonly secretHash: Digest;
  /** Null for a token that names no grant: an imported one may have it. */
  readonly grantId: string | null;
  readonly tokenHash: Digest;
}

/** An issued token, neither replaced nor revoked. The caller checks its expiry. */
export interface IssuedToken
  extends Pick<Grant, 'grantId' | 'scope' | 'clientId' | 'instanceName' | 'userId' | 'now'>,
    Pick<User, 'login' | 'externalId'> {
  readonly tokenIssuedAt: Date;
}

// One indexed read: the caller and its secret, the grant, its client and its user by their primary keys.
// `offset 0` keeps it so, whatever PostgreSQL's statistics (see `../common/sessions.ts`).
const findFor = (caller: SecretOwner, name: string, where = 'true') => findEach<
  IntrospectionRequest,
  TokenRow
>(name)`
select input.n::int as n, r.first_use as "firstUse",
       case when r.caller_id is null then exists (select from ${caller}s where ${caller}_id = input.caller_id) end as known, g.grant_id as "grantId", g.scope, g.client_id as "clientId",
       g.instance_name as "instanceName", g.user_id as "userId", g.login, g.external_id as "externalId",
       g.token_issued_at as "tokenIssuedAt",
       g.first_use as "firstUseOfGrant", clock_timestamp() as now
  from @input(caller_id text, secret_hash bytea, grant_id uuid, token_hash bytea)
  left join (
    select s.${caller}_id as caller_id, s.secret_hash, ${IS_FIRST_USE} as first_use
      from ${caller}_secrets s join ${caller}s using (${caller}_id)
     where ${SECRET_IS_ACCEPTED} and status = 'active'
  ) r on r.caller_id = input.caller_id and r.secret_hash = input.secret_hash
  left join lateral (
    select g.*, u.login, u.external_id, ${IS_FIRST_USE_OF_GRANT} as first_use
      from (select * from grants where grant_id = coalesce(input.grant_id, (select i.grant_id from imported_tokens i where i.token_hash = input.token_hash)) offset 0) g
     cross join lateral (select status from clients where client_id = g.client_id offset 0) c
     cross join lateral (select status, login, external_id from users where user_id = g.user_id offset 0) u
     where c.status = 'active' and u.status = 'active' and g.token_hash = input.token_hash and g.revoked_at is null
  ) g on r.caller_id is not null and ${where}`;

/** A missing token's columns are null. */
type TokenRow = (IssuedToken | { readonly grantId: null }) & {
  /** Of the caller's secret, today; null for no such secret. */
  readonly firstUse: boolean | null;
  /** Without such a secret: whether the caller is registered. */
  readonly known: boolean | null;
  /** Of the authorization, today; never for an expired token. */
  readonly firstUseOfGrant: boolean | null;
};

function lookupFor(caller: SecretOwner, name: string, where?: string) {
  const find = findFor(caller, name, where);
  const markSecretsUsed = writeEach<IntrospectionRequest>(`${caller}-secret-mark-used`)`
  ${noteUse(caller, `select caller_id, secret_hash from @input(caller_id text, secret_hash bytea)`)}`;
  return batched(name, async (db: pg.Pool, requests: readonly IntrospectionRequest[]) => {
    const rows = await find(db, requests);
    const uses = requests.flatMap(({ tokenHash }, index) => {
      const { firstUseOfGrant = false, grantId = null } = rows[index] ?? {};
      return firstUseOfGrant && grantId !== null ? [{ grantId, tokenHash }] : [];
    });
    recordGrantUses(db, uses);
    const first = requests.filter((_, index) => rows[index]?.firstUse === true);
    // A failure must not leave a request without its result.
    if (first.length > 0) await markSecretsUsed(db, first).catch(() => {});
    return rows.map((found) => {
      const row = requireRow(found, name);
      return {
        authenticated: row.firstUse !== null,
        known: row.known,
        token: row.grantId === null ? null : row,
      };
    });
  });
}

/** Looks up a token, null if invalid, and authenticates the resource server in the same statement. Notes first uses of the day. */
export const findToken = lookupFor('resource', 'token-find');

/** The same for a token's own application, to which any other token is invalid. */
export const findOwnToken = lookupFor('client', 'own-token-find', 'g.client_id = input.caller_id');

// Tokens of an earlier service (`assent grant import`) name no grant, so that a table has it. Only tokens without our form are
// looked up. The grant's own `token_hash` decides, as for ours: after a new authorization it is another one.

const findImported = findOneBatched<{ tokenHash: Digest }, { grantId: string }>('imported-token-find')`
  select n::int as n, grant_id as "grantId" from @input(token_hash bytea) join imported_tokens using (token_hash)`;

/** An access token's digest, and the grant that it names or was imported with; null for neither. */
export async function locateToken(pool: pg.Pool, accessToken: string) {
  const { grantId, hash } = parseToken('token', accessToken);
  return { grantId: grantId ?? (await findImported(pool, { tokenHash: hash }))?.grantId ?? null, hash };
}
