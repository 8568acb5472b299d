import pg from 'pg';
import { codeOf, isDatabaseAway, messageOf } from './errors.ts';

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
