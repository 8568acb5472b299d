import type { Digest } from '../../secrets/digest.ts';
import { findOne, write } from '../database/query.ts';

/** A working day, and never beyond the end of the token. */
export const OPERATOR_SESSION_HOURS = 8;

interface Session {
  readonly sessionHash: Digest;
  readonly tokenHash: Digest;
}

/** @param until the end of the token; null for none */
export const insertOperatorSession = write<Session & { until: Date | null }>('operator-session-insert')`
  insert into operator_sessions (session_hash, token_hash, expires_at)
  values (@sessionHash, @tokenHash, least(@until, clock_timestamp() + interval '${OPERATOR_SESSION_HOURS} hours'))`;

/** @returns the 64 hex digits of the token's hash, and `now`, for the lifetimes of forms; null if there is none now */
export const findOperatorSession = findOne<Pick<Session, 'sessionHash'>, { tokenHex: string; now: Date }>(
  'operator-session-find',
)`
  select encode(token_hash, 'hex') as "tokenHex", clock_timestamp() as now
    from operator_sessions where session_hash = @sessionHash and expires_at > clock_timestamp()`;

export const deleteOperatorSession = write<Pick<Session, 'sessionHash'>>('operator-session-delete')`
  delete from operator_sessions where session_hash = @sessionHash`;
