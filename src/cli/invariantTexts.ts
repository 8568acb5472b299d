import type { Invariant } from '../store/invariants/ask.ts';

/** What holds, what is said with a number in front when it doesn't, and what to do. */
type Texts = readonly [holds: string, broken: string, remedy: string, level?: 'advice'];

const BY_HAND = 'somebody wrote it past Assent: find out who may, and revoke those authorizations';
const LOOK = 'somebody changed rows by hand, or lost some: compare with an exported trail and a backup';
const SECRET = 'find out what wrote it; revoke or replace what it opens';

export const INVARIANT_TEXTS: Readonly<Record<Invariant, Texts>> = {
  grant_keys: [
    'each grant has the id of its user, client and instance',
    'grants have the id of another key',
    BY_HAND,
  ],
  grant_hashes: [
    'codes and tokens are stored as digests only',
    'grants have a code or token that is no digest',
    SECRET,
  ],
  grant_times: [
    'no token is older than its approval or was issued for an expired code',
    'grants have times that no exchange gives',
    BY_HAND,
  ],
  grant_lifetimes: ['nothing is live past its lifetime', 'grants live longer than they may', BY_HAND],
  grant_doubles: [
    'no two grants have one key',
    'ids belong to several grants',
    'run REINDEX on grants_pkey and compare with the trail which one is right',
  ],
  trail_of_grants: ['the trail has the approval of each grant', 'grants have no approval in the trail', LOOK],
  trail_of_tokens: [
    'the trail has the exchange of each live token',
    'live tokens have no exchange in the trail',
    LOOK,
  ],
  trail_of_revocations: [
    'the trail has each revocation',
    'revoked grants have no revocation in the trail',
    LOOK,
  ],
  trail_of_scopes: [
    'each grant has the scope of its last approval',
    'grants have another scope than their last approval',
    BY_HAND,
  ],
  trail_of_exchanges: [
    'each exchange in the trail has an approval of its own',
    'grants were exchanged without an approval of their own',
    LOOK,
  ],
  revived: ['what was revoked stays revoked', 'grants were revoked and are not any more', BY_HAND],
  revisions: ['each revision is the number of its events', 'grants have another revision than events', LOOK],
  orphans: [
    'whatever is owned has its owner',
    'rows have no owner',
    'foreign keys were switched off: delete these rows',
  ],
  other_hashes: [
    'secrets, sessions and rejections are stored as digests only',
    'rows have a secret that is no digest',
    SECRET,
  ],
  password_hashes: [
    'passwords are stored as argon2id only',
    'users have a password that is no argon2id hash',
    'set a new one: assent user set-password',
  ],
  tokens_in_refusals: [
    'no refusal that is kept has a code or token in it',
    'refusals have a code or token in them',
    SECRET,
  ],
  sessions_of_blocked: [
    'no blocked user has a session',
    'sessions are of blocked users',
    'run assent user sign-out for them',
  ],
  session_times: [
    'no session is from the future',
    'sessions are from the future and would live too long',
    'set the clock; run assent user sign-out for them',
  ],
  left_behind: [
    'what has expired is removed',
    'rows expired more than a day ago',
    'run assent maintain, and see why no server does',
    'advice',
  ],
  tokens_in_trail: [
    'no code or token is in the trail',
    'rows of the trail have a code or token in them',
    SECRET,
  ],
  trail_times: [
    'no row of the trail is from the future',
    'rows of the trail are from the future',
    'set the clock of the database; the rows stay',
  ],
  trail_months: [
    'each row of the trail is in the partition of its month',
    'rows of the trail are in audit_events_rest',
    'run assent maintain as the owner of the tables',
    'advice',
  ],
  trail_kinds: [
    'this build knows all that is in the trail',
    'rows of the trail are of a kind that this build does not know',
    'a newer build wrote them, or somebody by hand',
    'advice',
  ],
};
