import type { Digest } from '../secrets/digest.ts';
import { batched } from './batch.ts';
import { type Database, execute, queryBatch } from './database.ts';

/** What a resource asks about a token. */
export interface TokenQuestion {
  readonly resourceId: string;
  /** SHA-256 of the resource's secret. */
  readonly secretHash: Digest;
  /** Null for a token that we can't have made. */
  readonly grantId: string | null;
  readonly tokenHash: Digest;
}

/** What stands behind a token that was issued and not annulled or revoked; whether it expired is not judged here. */
export interface LiveToken {
  readonly scope: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly userId: string;
  readonly login: string;
  readonly tokenIssuedAt: Date;
  readonly now: Date;
}

/** Whether the resource is who it says, and what stands behind the token; null for nothing. */
export interface TokenAnswer {
  readonly authenticated: boolean;
  readonly token: LiveToken | null;
}

// One indexed read: the resource and its secret, the grant, its client and its user by their primary keys.
// `offset 0` keeps it that, whatever PostgreSQL believes about the tables (see `sessions.ts`).
const find = {
  name: 'token-find',
  text: `
select a.n::int as n, r.resource_id is not null as authenticated, r.first_use as "firstUse", g.grant_id is not null as live, g.scope,
       g.client_id as "clientId", g.instance_name as "instanceName", g.user_id as "userId", g.login,
       g.token_issued_at as "tokenIssuedAt", clock_timestamp() as now
  from unnest($1::text[], $2::bytea[], $3::uuid[], $4::bytea[])
       with ordinality as a (resource_id, secret_hash, grant_id, token_hash, n)
  left join (
    select s.resource_id, s.secret_hash, s.last_used_on is distinct from current_date as first_use
      from resource_secrets s join resources using (resource_id)
     where s.retired_at is null and status = 'active'
  ) r on r.resource_id = a.resource_id and r.secret_hash = a.secret_hash
  left join lateral (
    select g.*, u.login
      from (select * from grants where grant_id = a.grant_id offset 0) g
     cross join lateral (select status from clients where client_id = g.client_id offset 0) c
     cross join lateral (select status, login from users where user_id = g.user_id offset 0) u
     where c.status = 'active' and u.status = 'active' and g.token_hash = a.token_hash and g.revoked_at is null
  ) g on r.resource_id is not null`,
};

type TokenRow = { authenticated: boolean; firstUse: boolean | null; live: boolean } & LiveToken;

// The first use of a day is noted by whoever comes first; nobody waits for another to do it.
const markUsed = {
  name: 'resource-secret-mark-used',
  text: `
update resource_secrets set last_used_on = current_date
 where (resource_id, secret_hash) in (
         select resource_id, secret_hash from resource_secrets
          where (resource_id, secret_hash) in (select * from unnest($1::text[], $2::bytea[]))
            for no key update skip locked)`,
};

/** That it could not be noted is no reason to leave a question without its answer. */
async function noteUse(db: Database, questions: readonly TokenQuestion[]): Promise<void> {
  const values = [
    questions.map((question) => question.resourceId),
    questions.map((question) => question.secretHash),
  ];
  await execute(db, markUsed, values).catch(() => {});
}

/** What stands behind a token, for a resource that proves who it is. */
export const findToken = batched(findTokens);

/** @returns an answer for each question, in the same order */
export async function findTokens(db: Database, questions: readonly TokenQuestion[]): Promise<TokenAnswer[]> {
  const rows = await queryBatch<TokenRow>(db, find, questions, [
    questions.map((question) => question.resourceId),
    questions.map((question) => question.secretHash),
    questions.map((question) => question.grantId),
    questions.map((question) => question.tokenHash),
  ]);
  const first = questions.filter((_, index) => rows[index]?.firstUse === true);
  if (first.length > 0) await noteUse(db, first);
  return rows.map((row, index) => {
    if (row === null) throw new Error(`grants: no answer about the token of ${questions[index]?.grantId}`);
    return { authenticated: row.authenticated, token: row.live ? row : null };
  });
}
