import pg from 'pg';
import type { StatementFailure } from '../../signals/timings.ts';

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Of a host that takes no writes. The code is PostgreSQL's own for a write on one. */
export const standbyError = () => coded('25006', 'it is read-only: a standby, or configured as read-only');

/** Of a former primary. The code is of SQLSTATE's class for lost connections. */
export const takeoverError = (by: string, from: string) =>
  coded('08OLD', `${by} has taken over from ${from}`);

/** No connection could be made. The code is its cause's: of the network, of TLS, or of PostgreSQL. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(`while connecting to PostgreSQL: ${messageOf(cause)}`, { cause });
    this.code = codeOf(cause) || undefined;
  }
}

/** The code of the network, of TLS, or of PostgreSQL (its SQLSTATE); empty for an error without one. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** The joint error of several failed addresses has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/**
 * SQLSTATEs of a database that may answer the same statement later: connection lost (08), no resources (53), shutdown or
 * cancellation (57), closed by its operator (28, 3D000, 55000), deadlock and lock timeout, a replica that takes no writes.
 */
const AWAY = /^(08|28|53|57|3D000$|40001$|40P01$|55000$|55P03$|25006$)/;
const NETWORK_ERROR = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const CONNECTION_LOST =
  /Connection terminated(?! due to connection timeout)|Client has encountered a connection error/i;
const TOO_LATE =
  /ETIMEDOUT|did not answer within|due to connection timeout|timeout exceeded when trying to connect/i;

/** True if one request of a batch may have caused the error, by data, constraint, deadlock or lock: others must not fail. */
export function isOneCallersFault(error: unknown): boolean {
  return /^(22|23|40|55)/.test(codeOf(error));
}

/** True if the connection was lost, or must be replaced: PostgreSQL restarts, or became a standby by a failover. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return /^(08|57P0|25006)/.test(code) || NETWORK_ERROR.test(code) || CONNECTION_LOST.test(messageOf(error));
}

/** SQLSTATE of a lock that was not free within `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';

export function failureOf(error: unknown): StatementFailure {
  const code = codeOf(error);
  if (code === LOCK_NOT_AVAILABLE || code === '40P01') return 'lock'; // or a deadlock
  // `statement_timeout`, or cancelled by hand
  if (code === '57014' || TOO_LATE.test(messageOf(error))) return 'timeout';
  return isConnectionLost(error) ? 'connection' : 'other';
}

/** True if a starting server should wait for the database: not for a wrong role, password, database name or certificate. */
export function isTransientAtStart(error: unknown): boolean {
  return !/^(28|3D000$)/.test(codeOf(error)) && isUnanswered(error);
}

/** True if PostgreSQL was unreachable or couldn't respond, so that a retry may help. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof ConnectError || isUnanswered(error);
}

function isUnanswered(error: unknown): boolean {
  const code = codeOf(error);
  const origin = error instanceof ConnectError ? error.cause : error;
  // A missing Unix socket, unlike any other file.
  if (code === 'ENOENT') return (origin as NodeJS.ErrnoException).syscall === 'connect';
  return AWAY.test(code) || isConnectionLost(error) || TOO_LATE.test(messageOf(error));
}

// In words for the operator: in the log, and in a command's output.

const UNTRUSTED = [
  'the certificate of PostgreSQL has an untrusted CA',
  'set sslrootcert in DATABASE_URL to the file with its CA',
] as const;

/** By SQLSTATE or TLS code: the fault and its remedy. */
const SENTENCES: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  '08OLD': ['another PostgreSQL has taken over', 'make sure that the former primary is stopped'],
  '25006': ['PostgreSQL accepts no writes', 'most likely it is a standby, so connect to the primary'],
  '28000': ['PostgreSQL rejects this role', 'check the role in DATABASE_URL, and pg_hba.conf'],
  '28P01': ['PostgreSQL refuses the password', 'check the role and the password in DATABASE_URL'],
  '3D000': ['PostgreSQL has no such database', 'create it, or correct its name in DATABASE_URL'],
  '42P01': ['a table of Assent is missing', 'check the database in DATABASE_URL, and run assent migrate'],
  '53100': ['the disk of PostgreSQL is full', 'free some space'],
  '53300': ['PostgreSQL has no free connection', 'close some, or raise max_connections'],
  '55P03': ['timeout while waiting for a lock', 'pg_blocking_pids() shows which process holds it'],
  '57014': ['a statement was cancelled', 'it took too long, or an administrator cancelled it'],
  '57P01': ['PostgreSQL ended the connection', 'it is shutting down, or an administrator terminated it'],
  '57P03': [
    'PostgreSQL accepts no connections now',
    'it is starting up, shutting down or recovering; try again in a moment',
  ],
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'the certificate of PostgreSQL is for another host name',
    'connect by that name, or with sslmode=verify-ca',
  ],
  CERT_HAS_EXPIRED: ['the certificate of PostgreSQL has expired', 'renew it'],
};

/** True if PostgreSQL refuses for a reason that waiting doesn't solve. */
export function isPermanentDatabaseError(error: unknown): boolean {
  const code = codeOf(error);
  return code in SENTENCES && !code.startsWith('57');
}

/** A short description for a request's log line: the fault, with its code. */
export function nameTrouble(error: unknown): string {
  return `${whatOf(error)} (${codeOf(error) || messageOf(error)})`;
}

/** A sentence for the operator: the fault, its remedy, and the original message. */
export function explainTrouble(error: unknown): string {
  const known = SENTENCES[codeOf(error)] ?? SENTENCES[codeOf((error as Error | undefined)?.cause)];
  if (known !== undefined) return `${known.join(': ')} (${messageOf(error)})`;
  return isDatabaseUnavailable(error) ? `${whatOf(error)}: ${messageOf(error)}` : messageOf(error);
}

function whatOf(error: unknown): string {
  const what =
    error instanceof pg.DatabaseError ? 'PostgreSQL could not answer' : "the database can't be reached";
  return SENTENCES[codeOf(error)]?.[0] ?? what;
}
