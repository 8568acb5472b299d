import type pg from 'pg';
import type { Digest } from '../../secrets/digest.ts';
import { IS_ACCEPTED, IS_FIRST_USE, noteUse } from '../common/secrets.ts';
import { batched } from '../database/batch.ts';
import { findEach, required, writeEach } from '../database/query.ts';
import { IS_FIRST_USE_OF_GRANT, noteGrantUses } from './grantUse.ts';
import { grantOfImported } from './importedTokens.ts';

interface IntrospectionRequest {
  readonly resourceId: string;
  /** SHA-256 of the resource server's secret. */
  readonly secretHash: Digest;
  /** Null for a token that names no grant: an imported one may have it. */
  readonly grantId: string | null;
  readonly tokenHash: Digest;
}

/** An issued token, neither replaced nor revoked. The caller checks its expiry. */
export interface IssuedToken {
  readonly grantId: string;
  readonly scope: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly userId: string;
  readonly login: string;
  /** The user's id in another system; null for none. */
  readonly externalId: string | null;
  readonly tokenIssuedAt: Date;
  readonly now: Date;
}

// One indexed read: the resource server and its secret, the grant, its client and its user by their primary keys.
// `offset 0` keeps it so, whatever PostgreSQL's statistics (see `../common/sessions.ts`).
const find = findEach<IntrospectionRequest, TokenRow>('token-find', {
  resource_id: 'text',
  secret_hash: 'bytea',
  grant_id: 'uuid',
  token_hash: 'bytea',
})`
select input.n::int as n, r.first_use as "firstUse", g.grant_id as "grantId", g.scope, g.client_id as "clientId",
       g.instance_name as "instanceName", g.user_id as "userId", g.login, g.external_id as "externalId",
       g.token_issued_at as "tokenIssuedAt",
       g.first_use as "firstUseOfGrant", clock_timestamp() as now
  from @input
  left join (
    select s.resource_id, s.secret_hash, ${IS_FIRST_USE} as first_use
      from resource_secrets s join resources using (resource_id)
     where ${IS_ACCEPTED} and status = 'active'
  ) r on r.resource_id = input.resource_id and r.secret_hash = input.secret_hash
  left join lateral (
    select g.*, u.login, u.external_id, ${IS_FIRST_USE_OF_GRANT} as first_use
      from (select * from grants where grant_id = coalesce(input.grant_id, (${grantOfImported('input.token_hash')})) offset 0) g
     cross join lateral (select status from clients where client_id = g.client_id offset 0) c
     cross join lateral (select status, login, external_id from users where user_id = g.user_id offset 0) u
     where c.status = 'active' and u.status = 'active' and g.token_hash = input.token_hash and g.revoked_at is null
  ) g on r.resource_id is not null`;

/** A missing token's columns are null. */
type TokenRow = (IssuedToken | { readonly grantId: null }) & {
  /** Of the resource server's secret, today; null for no such secret. */
  readonly firstUse: boolean | null;
  /** Of the authorization, today; never for an expired token. */
  readonly firstUseOfGrant: boolean | null;
};

const markUsed = writeEach<IntrospectionRequest>('resource-secret-mark-used', {
  resource_id: 'text',
  secret_hash: 'bytea',
})`
  ${noteUse('resource', `select resource_id, secret_hash from @input`)}`;

/** Looks up a token, null if invalid, and authenticates the resource server in the same statement. Notes first uses of the day. */
export const findToken = batched(
  'token-find',
  async (db: pg.Pool, requests: readonly IntrospectionRequest[]) => {
    const rows = await find(db, requests);
    const uses = requests.flatMap(({ tokenHash }, index) => {
      const { firstUseOfGrant = false, grantId = null } = rows[index] ?? {};
      return firstUseOfGrant && grantId !== null ? [{ grantId, tokenHash }] : [];
    });
    noteGrantUses(db, uses);
    const first = requests.filter((_, index) => rows[index]?.firstUse === true);
    // A failure must not leave a request without its result.
    if (first.length > 0) await markUsed(db, first).catch(() => {});
    return rows.map((found) => {
      const row = required(found, 'token-find');
      return { authenticated: row.firstUse !== null, token: row.grantId === null ? null : row };
    });
  },
);
