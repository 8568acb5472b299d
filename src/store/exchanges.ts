import type { Digest } from '../secrets/digest.ts';
import type { Caller } from './auditEvents.ts';
import { batched } from './batch.ts';
import { asciiOnly, type Database, decide, inOrder, momentOf } from './database.ts';

/** One token request as the database judges it. */
export interface ExchangeQuestion {
  /** Null for a code that we can't have made: it goes the same way, so that the client is judged first. */
  readonly grantId: string | null;
  readonly codeHash: Digest;
  readonly clientId: string;
  /** SHA-256 of the client secret; null when none was sent. */
  readonly secretHash: Digest | null;
  readonly redirectUri: string;
  /** S256 of the code verifier; null when none was sent. */
  readonly challenge: string | null;
  /** SHA-256 of the token to issue. */
  readonly tokenHash: Digest;
  readonly caller: Caller;
}

/** Why a token was issued or not; the order of the statement's `case` is the order of the contract's checks. */
export type ExchangeVerdict =
  | 'issued'
  | 'client'
  | 'secret'
  | 'unknown'
  | 'expired'
  | 'changed'
  | 'redirect_uri'
  | 'challenge'
  | 'replayed'
  | 'used'
  | 'user'
  /** Nothing was judged: the statement came too late for its callers. */
  | 'late';

export interface ExchangeAnswer {
  readonly verdict: ExchangeVerdict;
  readonly issuedAt: Date | null;
}

// One guarded statement for everything (contract 2.4, section 3, 7.2): the row is locked, judged and written
// in it, so two exchanges of one code can't both see it unused. Rows are locked in the order of their keys,
// so that statements about several codes never wait for each other in a circle.
const exchange = {
  name: 'grant-exchange',
  text: `
with asked as materialized (
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::bytea[],
                       $8::text[], $9::text[]) with ordinality
           as a (grant_id, code_hash, client_id, secret_hash, redirect_uri, challenge, token_hash, address, reference, n)
), held as materialized (
  select * from grants where grant_id = any ($1::uuid[])
   order by grant_id for no key update
), ${momentOf('$10', 'held')}, judged as materialized (
  select a.n, a.grant_id, a.token_hash, a.address, a.reference, h.token_issued_at, s.client_id, s.secret_hash,
    s.secret_hash is not null and s.last_used_on is distinct from current_date as first_use,
    case
      when c.client_id is null or c.status <> 'active' then 'client'
      when c.verified and s.secret_hash is null then 'secret'
      when h.grant_id is null or h.client_id <> a.client_id or h.code_hash <> a.code_hash then 'unknown'
      -- our own retry after a lost answer: the token it asks for is already there
      when h.token_hash = a.token_hash and h.revoked_at is null then 'issued'
      when m.late then 'late'
      when h.code_expires_at <= clock_timestamp() then 'expired'
      when h.client_revision <> c.revision and h.token_hash is null then 'changed'
      when h.redirect_uri <> a.redirect_uri then
        case when h.token_hash is null and h.revoked_at is null then 'redirect_uri' else 'used' end
      when h.code_challenge is distinct from a.challenge then 'challenge'
      when h.token_hash is not null and h.revoked_at is null then 'replayed'
      when h.token_hash is not null or h.revoked_at is not null then 'used'
      when u.status <> 'active' then 'user'
      else 'issue'
    end as verdict
  from asked a
 cross join moment m
  left join clients c on c.client_id = a.client_id
  left join client_secrets s
         on s.client_id = a.client_id and s.secret_hash = a.secret_hash and s.retired_at is null
  left join held h on h.grant_id = a.grant_id
  left join lateral (select status from users where user_id = h.user_id offset 0) u on true  -- see sessions.ts
), issued as (
  update grants g set token_hash = j.token_hash, token_issued_at = clock_timestamp()
    from judged j where g.grant_id = j.grant_id and j.verdict = 'issue'
  returning j.n, g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, j.address, j.reference, g.token_issued_at
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from judged j where g.grant_id = j.grant_id and j.verdict = 'replayed'
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, j.address, j.reference
), used as (  -- the first use of a day is noted by whoever comes first; nobody waits for another to do it
  update client_secrets set last_used_on = current_date
   where (client_id, secret_hash) in (
           select client_id, secret_hash from client_secrets
            where (client_id, secret_hash) in (select client_id, secret_hash from judged where first_use)
              for no key update skip locked)
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'exchanged', grant_id, user_id, client_id, instance_name, scope, address, reference from issued
  union all
  select 'replayed', grant_id, user_id, client_id, instance_name, scope, address, reference from revoked
)
select j.n::int as n,
       case when i.n is null then j.verdict else 'issued' end as verdict,
       j.verdict = 'late' as late,
       coalesce(i.token_issued_at, j.token_issued_at) as "issuedAt"
  from judged j left join issued i on i.n = j.n`,
};

/** Judges a token request, and issues a token when it deserves one. */
export const exchangeCode = batched(exchangeCodes, { rowOf: ({ grantId }: ExchangeQuestion) => grantId });

/**
 * Judges token requests about different codes, any number in one statement, and issues a token for each that deserves one. Asked
 * twice with the same token hashes it gives the same answers, so a connection that breaks after the commit
 * loses nothing.
 *
 * @returns an answer for each question, in the same order
 * @throws {Error} when the statement left a question unanswered
 */
export async function exchangeCodes(
  db: Database,
  questions: readonly ExchangeQuestion[],
): Promise<ExchangeAnswer[]> {
  const values = [
    questions.map((question) => question.grantId),
    questions.map((question) => question.codeHash),
    questions.map((question) => asciiOnly(question.clientId)),
    questions.map((question) => question.secretHash),
    questions.map((question) => asciiOnly(question.redirectUri)),
    questions.map((question) => question.challenge),
    questions.map((question) => question.tokenHash),
    questions.map((question) => question.caller.address),
    questions.map((question) => question.caller.reference),
  ];
  const decideBy = Math.min(...questions.map((question) => question.caller.decideBy));
  const rows = await decide<ExchangeRow>(db, exchange, values, decideBy);
  return inOrder(questions, rows).map((row, index) => {
    if (row === null) throw new Error(`grants: no verdict for the code of ${questions[index]?.grantId}`);
    return row;
  });
}

interface ExchangeRow extends ExchangeAnswer {
  readonly n: number;
}
