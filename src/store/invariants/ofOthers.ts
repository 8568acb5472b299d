import { MAX_SESSION_HOURS } from '../../rules/lifetimes.ts';
import { AUDIT_KINDS } from '../auditEvents.ts';
import { CLOCK_MARGIN, hasToken, isNoDigest, type Source } from './question.ts';

const now = 'clock_timestamp()';
/** The server removes expired rows each minute: what has waited for so long, it can't. */
const PATIENCE = `interval '1 day'`;

/** The first is a code or token, whatever column of the trail it stands in. */
export const TRAIL: Source<'tokens_in_trail' | 'trail_times' | 'trail_months' | 'trail_kinds'> = {
  from: 'audit_events a',
  id: 'a.at',
  broken: {
    tokens_in_trail: hasToken(
      `concat_ws(' ', a.kind, a.client_id, a.instance_name, a.scope, a.limits, a.address, a.reference, a.operator, a.resource_id, a.detail)`,
    ),
    trail_times: `a.at > ${now} + ${CLOCK_MARGIN}`,
    trail_months: `a.tableoid = 'audit_events_rest'::regclass`,
    trail_kinds: `a.kind not in (${AUDIT_KINDS.map((kind) => `'${kind}'`).join(', ')})`,
  },
};

/** Every other column that holds a digest or a hash of a password, and texts of strangers. */
export const SECRETS: Source<'other_hashes' | 'password_hashes' | 'tokens_in_refusals'> = {
  from: `(select 'a secret of client ' || client_id as id, secret_hash as digest, null as password, null as said from client_secrets
          union all select 'a secret of resource ' || resource_id, secret_hash, null, null from resource_secrets
          union all select 'a session of user ' || user_id, session_hash, null, null from sessions
          union all select 'a confirmation of user ' || user_id, confirmed_request, null, null from sessions
          union all select 'a rejection', code_hash, null, null from denials
          union all select 'user ' || user_id, null, password_hash, null from users
          union all select 'user ' || user_id, null, payment_password_hash, null from users
          union all select 'refusal ' || slot, null, null, concat_ws(' ', reference, method, path, error, rule) from refusals) s`,
  id: 's.id',
  broken: {
    other_hashes: isNoDigest('s.digest'),
    password_hashes: `s.password !~ '^\\$argon2id\\$v=19\\$m=\\d+,t=\\d+,p=\\d+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$'`,
    tokens_in_refusals: hasToken('s.said'),
  },
};

/** What lives for hours or minutes: it must end, and be gone. */
export const SESSIONS: Source<'sessions_of_blocked' | 'session_times' | 'left_behind'> = {
  from: `(select 'a session of user ' || s.user_id as id, s.created_at, s.seen_at, u.status,
                 s.created_at + interval '${MAX_SESSION_HOURS} hours' as expires_at
            from sessions s join users u using (user_id)
          union all select 'a rejection', null, null, null, expires_at from denials) s`,
  id: 's.id',
  broken: {
    sessions_of_blocked: `s.status = 'blocked'`,
    session_times: `greatest(s.created_at, s.seen_at) > ${now} + ${CLOCK_MARGIN}`,
    left_behind: `s.expires_at < ${now} - ${PATIENCE}`,
  },
};
