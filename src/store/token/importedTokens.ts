import type pg from 'pg';
import type { Digest } from '../../secrets/digest.ts';
import { parseToken } from '../../secrets/tokens.ts';
import { findBatched } from '../database/batch.ts';

// Tokens of an earlier service (`assent grant import`) name no grant, so that a table has it. Only tokens without our form are
// looked up. The grant's own `token_hash` decides, as for ours: after a new authorization it is another one.

const find = findBatched<Digest, { readonly grantId: string }>('imported-token-find', {
  token_hash: (hash) => hash,
})`
  select n::int as n, grant_id as "grantId" from @input(token_hash bytea) join imported_tokens using (token_hash)`;

/** An access token's digest, and the grant that it names or was imported with; null for neither. */
export async function locateToken(pool: pg.Pool, accessToken: string) {
  const { grantId, hash } = parseToken('token', accessToken);
  return { grantId: grantId ?? (await find(pool, hash))?.grantId ?? null, hash };
}
