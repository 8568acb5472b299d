import type pg from 'pg';
import { ANSWER_MS } from '../../src/rules/common/timeouts.ts';

/** A request at the front door, or an operator's command. */
export type Act =
  /** A page, or a form that decides nothing about an authorization. */
  | 'look'
  | 'signIn'
  | 'approve'
  | 'reject'
  | 'exchange'
  | 'introspect'
  | 'pay'
  | 'revoke'
  | 'disconnect'
  | 'disconnectAll'
  | 'stop'
  | 'revokeByOperator'
  | 'block'
  | 'unblock';

/** The outcome for the caller. `nothing`: the connection broke, or no answer came. `unreached`: no connection. */
export type Told = 'done' | 'refused' | 'unavailable' | 'nothing' | 'unreached';

/** Codes and tokens are the hex of their SHA-256, as in the database. */
export interface Asked {
  readonly act: Act;
  readonly actor: string;
  readonly during: string;
  readonly key?: string | undefined;
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  /** The consent page whose form was sent: several posts of one are one decision. */
  readonly form?: string | undefined;
  readonly code?: string | undefined;
  readonly token?: string | undefined;
  /** Of an exchange or a payment: the hash of the whole body, by which a repetition is recognized. */
  readonly body?: string | undefined;
  /** The application's name for it, of no other. */
  readonly payment?: string | undefined;
  /** It may leave no row in the trail, as there may be nothing to undo. */
  readonly mayBeIdle?: boolean | undefined;
}

/** One line of the journal. Times are milliseconds since 1970, of this machine's clock. */
export interface Entry extends Asked {
  readonly askedAt: number;
  readonly toldAt: number;
  readonly told: Told;
  /** Null without an answer, and for a command. */
  readonly status: number | null;
  /** `X-Request-Id`, or the operator of a command: the trail has it as `reference` or `operator`. Null where unknown. */
  readonly ref: string | null;
  readonly retryAfter?: string | null;
  readonly active?: boolean | undefined;
  /** Why, in the words of the answer: an error code, a page, an error of the connection. */
  readonly why?: string | undefined;
}

/** A grant's row; the hash in hex. */
export interface GrantRow {
  readonly grantId: string;
  readonly tokenHash: string | null;
}

export interface PaymentRow {
  readonly grantId: string;
  readonly budget: string;
  readonly payment: string;
  readonly amount: number;
  readonly paidAt: number;
  readonly tokenIssuedAt: number;
}

export interface EventRow {
  readonly kind: string;
  readonly at: number;
  readonly grantId: string | null;
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly reference: string | null;
  readonly operator: string | null;
}

export interface Life {
  readonly name: string;
  readonly output: string;
  readonly runs: boolean;
  readonly killed: boolean;
}

/** The auditor's input: the answers, the database, and the processes. */
export interface Evidence {
  readonly entries: readonly Entry[];
  readonly grants: readonly GrantRow[];
  readonly events: readonly EventRow[];
  readonly payments: readonly PaymentRow[];
  /** What `assent doctor --invariants` finds. */
  readonly broken: readonly string[];
  readonly lives: readonly Life[];
  readonly codeLifetimeMs: number;
  /** The start of the last introspections of all tokens, at rest. */
  readonly quietSince: number;
  readonly leaks: readonly string[];
  readonly losing: ReadonlySet<string>;
  readonly frozenAt: readonly number[];
  /** Times of takeovers from a primary that went on, to which a replica is connected without HAProxy. */
  readonly overtakenAt: readonly number[];
}

/** The tolerance between the clocks of this process and of PostgreSQL, on one machine. */
export const SLACK_MS = 250;

/**
 * The last moment at which a request that was answered 503 can have been decided: none, unless answers of PostgreSQL can be
 * lost. Then it has the time of a request; a stopped replica reads its requests when it resumes, and a statement that was
 * stopped after it read the deadline is carried out later.
 */
export function decidedBy({ losing, frozenAt }: Evidence, { during, askedAt, toldAt }: Entry): number {
  if (!losing.has(during)) return Number.NEGATIVE_INFINITY;
  const latest = Math.max(askedAt + ANSWER_MS, toldAt) + SLACK_MS;
  const isFrozen = frozenAt.some((at) => askedAt <= at && at <= latest);
  return isFrozen ? Number.POSITIVE_INFINITY : latest;
}

const GRANTS = `select grant_id as "grantId", encode(token_hash, 'hex') as "tokenHash" from grants`;

const msOf = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const PAYMENTS = `
select grant_id as "grantId", encode(budget, 'hex') as budget, key as payment, amount::float8,
       ${msOf('paid_at')} as "paidAt", ${msOf('token_issued_at')} as "tokenIssuedAt"
  from payment_reservations`;

const EVENTS = `
select kind, ${msOf('at')} as at, grant_id as "grantId", user_id as "userId",
       client_id as "clientId", reference, operator
  from audit_events order by audit_events.at`;

export async function readRows(client: pg.Client): Promise<Pick<Evidence, 'grants' | 'events' | 'payments'>> {
  await client.query('begin isolation level repeatable read');
  const grants = await client.query<GrantRow>(GRANTS);
  const events = await client.query<EventRow>(EVENTS);
  const payments = await client.query<PaymentRow>(PAYMENTS);
  await client.query('commit');
  return { grants: grants.rows, events: events.rows, payments: payments.rows };
}
