import pg from 'pg';
import { codeOf, isDatabaseAway, messageOf } from './errors.ts';

// Database errors in words for the operator: in the log, and in a command's output.

const UNTRUSTED = [
  'the certificate of PostgreSQL is by no CA that is trusted here',
  'name the file with its CA as sslrootcert in DATABASE_URL',
] as const;

/** By SQLSTATE or TLS code: the fault and its remedy. */
const SENTENCES: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  '08OLD': ['another PostgreSQL has taken over', 'make sure that the former primary is stopped'],
  '25006': ['PostgreSQL takes no writes there', 'most likely it is a standby, so connect to the primary'],
  '28000': ['PostgreSQL does not admit this role', 'check the role in DATABASE_URL, and pg_hba.conf there'],
  '28P01': ['PostgreSQL refuses the password', 'check the role and the password in DATABASE_URL'],
  '3D000': ['PostgreSQL has no such database', 'create it, or correct its name in DATABASE_URL'],
  '42P01': ['PostgreSQL lacks a table of ours', 'check the database in DATABASE_URL, and run assent migrate'],
  '53100': ['PostgreSQL has no room on its disk', 'make room there'],
  '53300': ['PostgreSQL has no connection left', 'end some, or allow more there'],
  '55P03': ['a lock was not free in time', 'pg_blocking_pids() there says who holds it'],
  '57014': ['a statement was cancelled', 'it took too long, or somebody cancelled it there'],
  '57P01': ['PostgreSQL ended the connection', 'it is shutting down, or somebody ended it there'],
  '57P03': [
    'PostgreSQL takes no connections now',
    'it is starting up, shutting down or recovering; try again in a moment',
  ],
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'the certificate of PostgreSQL is for another name',
    'connect by the name that it has, or with sslmode=verify-ca',
  ],
  CERT_HAS_EXPIRED: ['the certificate of PostgreSQL has expired', 'renew it there'],
};

/** True if PostgreSQL refuses for a reason that waiting doesn't solve. */
export function isRefusal(error: unknown): boolean {
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
  return isDatabaseAway(error) ? `${whatOf(error)}: ${messageOf(error)}` : messageOf(error);
}

function whatOf(error: unknown): string {
  const what =
    error instanceof pg.DatabaseError ? 'PostgreSQL could not answer' : "the database can't be reached";
  return SENTENCES[codeOf(error)]?.[0] ?? what;
}
