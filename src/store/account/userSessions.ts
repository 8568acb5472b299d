import type { Device } from '../../rules/account/userAgent.ts';
import type { RequestMeta } from '../../rules/common/caller.ts';
import type { Digest } from '../../secrets/digest.ts';
import { CALLER_FROM_PARAMETERS, insertEventsSql } from '../common/auditEvents.ts';
import { SESSION_IS_VALID, sessionIdOf } from '../common/sessions.ts';
import { findAll, write } from '../database/query.ts';

const SESSION_ID = sessionIdOf('s.session_hash');

interface ListedSession extends Device {
  readonly sessionId: string;
  readonly isCurrent: boolean;
  readonly createdAt: Date;
  /** Up to a minute too early. */
  readonly seenAt: Date;
  /** Network at its start, such as `203.0.113.0/24`; null if unknown. */
  readonly network: string | null;
}

/** A user's live sessions, at most `MAX_SESSIONS`: the current one, then by last use. */
export const listUserSessions = findAll<{ userId: string; sessionHash: Digest }, ListedSession>(
  'user-session-list',
)`
  select ${SESSION_ID} as "sessionId", s.session_hash = @sessionHash as "isCurrent", s.created_at as "createdAt",
         s.seen_at as "seenAt", s.browser, s.system, s.network
    from sessions s where s.user_id = @userId and ${SESSION_IS_VALID}
   order by s.session_hash = @sessionHash desc, s.seen_at desc, s.session_hash`;

const KIND = `case when @sessionId::text is null then 'other_sessions_ended' else 'session_ended' end`;

// Rows of one user, in key order: see the locks of `approvals.ts`.
/** Ends one other session of the user, or all others if `sessionId` is null. */
export const deleteOtherSessions = write<
  RequestMeta & { userId: string; sessionHash: Digest; sessionId: string | null }
>('user-session-end')`
with ended as (
  delete from sessions where session_hash = any (array(
    select s.session_hash from sessions s
     where s.user_id = @userId and s.session_hash <> @sessionHash and (@sessionId::text is null or ${SESSION_ID} = @sessionId)
     order by s.session_hash for update))
  returning user_id
)
${insertEventsSql({ kind: KIND, user_id: 'user_id', ...CALLER_FROM_PARAMETERS }, '(select distinct user_id from ended) user_of_them')}`;
