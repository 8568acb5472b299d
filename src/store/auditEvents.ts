import { type Database, select } from './database.ts';

/** Who asked by HTTP for what the trail is told of, and how long they wait for it. */
export interface Caller {
  /** The address of the browser or the application's server, as text. */
  readonly address: string;
  /** The reference of the request's log line. */
  readonly reference: string;
  /** Until when of `performance.now()` it may be decided: what comes later does nothing. */
  readonly decideBy: number;
}

/** Something that happened: to an authorization (contract section 3) in the transaction of that very transition, or at a sign-in. */
export interface AuditEvent {
  readonly at: Date;
  readonly kind: AuditKind;
  readonly login: string | null;
  readonly clientId: string | null;
  readonly instanceName: string | null;
  readonly grantId: string | null;
  readonly scope: string | null;
  /** As a decision's page showed them; null where nothing was decided. */
  readonly limits: unknown;
  readonly address: string | null;
  readonly reference: string | null;
}

export type AuditKind =
  | 'approved'
  | 'approved_again'
  | 'refused'
  | 'exchanged'
  | 'replayed'
  | 'revoked_by_user'
  | 'revoked_by_application'
  | 'revoked_by_operator'
  | 'signed_in'
  | 'payment_confirmed'
  | GuessingKind;

/** A password was tried so often that the next try has to wait. */
export type GuessingKind = 'password_guessed' | 'payment_password_guessed';

/** Which events; what is null doesn't narrow them. */
export interface AuditFilter {
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly reference: string | null;
  readonly since: Date | null;
}

/** The events that fit, oldest first. */
export function findAuditEvents(db: Database, filter: AuditFilter): Promise<AuditEvent[]> {
  const conditions = [
    ['a.user_id =', filter.userId],
    ['a.client_id =', filter.clientId],
    ['a.reference =', filter.reference],
    ['a.at >=', filter.since],
  ] as const;
  // Only what is asked stands in the statement, so that its plan is made for that.
  const asked = conditions.filter(([, value]) => value !== null);
  const where = asked.map(([condition], index) => `${condition} $${index + 1}`).join(' and ');
  const statement = {
    name: '',
    text: `
select a.at, a.kind, u.login, a.client_id as "clientId", a.instance_name as "instanceName", a.grant_id as "grantId",
       a.scope, a.limits, a.address, a.reference
  from audit_events a left join users u using (user_id)
 where ${where || 'true'} order by a.at`,
  };
  return select<AuditEvent>(
    db,
    statement,
    asked.map(([, value]) => value),
  );
}

const noteGuess = {
  name: 'audit-note-guess',
  text: 'insert into audit_events (kind, user_id, address, reference) select $1, $2, $3, $4 where $2::uuid is not null',
};

/** Notes that somebody guesses at a user's password. @param userId null for a login that nobody has: the same work for nothing */
export async function noteGuessing(
  db: Database,
  kind: GuessingKind,
  userId: string | null,
  { address, reference }: Caller,
): Promise<void> {
  await select(db, noteGuess, [kind, userId, address, reference]);
}
