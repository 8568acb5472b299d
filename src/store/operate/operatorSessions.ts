import type { Digest } from '../../secrets/digest.ts';
import { findOne, write } from '../database/query.ts';

/** A working day, and never beyond the end of the token. */
export const OPERATOR_SESSION_HOURS = 8;

interface SessionKey {
  readonly sessionHash: Digest;
}

/** Whose a session is: with the token, or else with what an OpenID provider said. */
export interface SessionOwner {
  readonly tokenHash: Digest | null;
  readonly operator: string | null;
  /** Issuer and claim, and the values of the claim. */
  readonly source: string | null;
  readonly given: readonly string[] | null;
}

/** @param until the end of the token; null for none */
export const insertOperatorSession = write<SessionKey & SessionOwner & { until: Date | null }>(
  'operator-session-insert',
)`
  insert into operator_sessions (session_hash, token_hash, operator, source, given, expires_at)
  values (@sessionHash, @tokenHash, @operator, @source, @given::text[],
          least(@until, clock_timestamp() + interval '${OPERATOR_SESSION_HOURS} hours'))`;

/** @returns also `now`, for the lifetimes of forms; null if there is none now */
export const findOperatorSession = findOne<SessionKey, SessionOwner & Record<'expiresAt' | 'now', Date>>(
  'operator-session-find',
)`
  select token_hash::text as "tokenHash", operator, source, given, expires_at as "expiresAt", clock_timestamp() as now
    from operator_sessions where session_hash = @sessionHash and expires_at > clock_timestamp()`;

export const deleteOperatorSession = write<SessionKey>('operator-session-delete')`
  delete from operator_sessions where session_hash = @sessionHash`;
