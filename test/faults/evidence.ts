import type pg from 'pg';
import { ANSWER_MS } from '../../src/rules/common/timeouts.ts';
import type { Entry } from './journal.ts';

/** A grant's row; hashes in hex, times in milliseconds since 1970. */
export interface GrantRow {
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly revision: number;
  readonly codeHash: string;
  readonly tokenHash: string | null;
  readonly revokedAt: number | null;
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
  readonly lives: readonly Life[];
  readonly codeLifetimeMs: number;
  /** The start of the last introspections of all tokens, at rest. */
  readonly quietSince: number;
  /** Descriptions of log lines that contain a secret. */
  readonly leaks: readonly string[];
  /** Names of faults with `losesAnswers`. */
  readonly losing: ReadonlySet<string>;
  /** Times at which PostgreSQL was stopped. */
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

const GRANTS = `
select grant_id as "grantId", user_id as "userId", client_id as "clientId", instance_name as "instanceName", revision,
       encode(code_hash, 'hex') as "codeHash", encode(token_hash, 'hex') as "tokenHash",
       (extract(epoch from revoked_at) * 1000)::float8 as "revokedAt"
  from grants`;

const EVENTS = `
select kind, (extract(epoch from at) * 1000)::float8 as at, grant_id as "grantId", user_id as "userId",
       client_id as "clientId", reference, operator
  from audit_events order by audit_events.at`;

export async function readRows(client: pg.Client): Promise<Pick<Evidence, 'grants' | 'events'>> {
  await client.query('begin isolation level repeatable read');
  const grants = await client.query<GrantRow>(GRANTS);
  const events = await client.query<EventRow>(EVENTS);
  await client.query('commit');
  return { grants: grants.rows, events: events.rows };
}
