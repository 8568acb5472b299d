import { type Database, select } from './database.ts';

/** What a token was looked up by. */
export interface TokenQuestion {
  readonly grantId: string;
  readonly tokenHash: Buffer;
}

/** What stands behind a token that was issued and not annulled or revoked; whether it expired is not judged here. */
export interface TokenRow {
  readonly scope: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly userId: string;
  readonly login: string;
  readonly tokenIssuedAt: Date;
  readonly now: Date;
}

const find = {
  name: 'token-find',
  text: `
select a.n::int as n, g.scope, g.client_id as "clientId", g.instance_name as "instanceName", u.user_id as "userId",
       u.login, g.token_issued_at as "tokenIssuedAt", clock_timestamp() as now
  from unnest($1::uuid[], $2::bytea[]) with ordinality as a (grant_id, token_hash, n)
  join grants g on g.grant_id = a.grant_id and g.token_hash = a.token_hash and g.revoked_at is null
  join clients c on c.client_id = g.client_id and c.status = 'active'
  join users u on u.user_id = g.user_id and u.status = 'active'`,
};

/** @returns for each question what stands behind the token, undefined for one that gives no right to anything */
export async function findTokens(
  db: Database,
  questions: readonly TokenQuestion[],
): Promise<(TokenRow | undefined)[]> {
  const rows = await select<TokenRow & { n: number }>(db, find, [
    questions.map((question) => question.grantId),
    questions.map((question) => question.tokenHash),
  ]);
  const byOrdinal = new Map(rows.map((row) => [row.n, row]));
  return questions.map((_, index) => byOrdinal.get(index + 1));
}
