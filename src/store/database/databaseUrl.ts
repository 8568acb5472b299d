import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';

const FIELDS = [
  'host',
  'user',
  'password',
  'database',
  'sslnegotiation',
  'options',
  'application_name',
] as const;

/** One PostgreSQL host, and the credentials for it. */
export type Address = Pick<ClientConfig, (typeof FIELDS)[number] | 'port' | 'ssl'>;

/** An unusable URL. The message continues after "must", and quotes only names of the URL: no password. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

const FORM = 'postgres://user@host/database, with special characters encoded as %XX';

/**
 * Reads a `postgres://` URL like libpq, including `sslmode`; of several hosts the one that takes writes is used. Parameters
 * outside {@link Address} have no effect. @returns an address for each host, in order @throws {AddressError}
 */
export function parseAddresses(url: string): Address[] {
  const [, scheme, access = '', hosts = '', database = '', parameters = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^@?#]*)?(\?.*)?$/.exec(url) ?? [];
  if (scheme === undefined) throw new AddressError(`look like ${FORM}`);
  return hosts.split(',').map((host) => parseAddress(`${scheme}${access}${host}${database}${parameters}`));
}

function parseAddress(url: string): Address {
  const given = read(url);
  // Without `allow` and `prefer`: a man in the middle can make them fall back to plain text.
  refuse('sslmode', given.sslmode, ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']);
  refuse('target_session_attrs', given.target_session_attrs, ['read-write', 'primary', 'any']); // Assent always writes
  if (String(given.host).includes(',')) throw new AddressError('list all hosts before the database name');
  const { port, ssl } = given;
  return {
    ...Object.fromEntries(FIELDS.map((field) => [field, given[field]]).filter(([, value]) => value)),
    ...(port ? { port: Number(port) } : {}),
    ...(ssl === undefined ? {} : { ssl }),
  } as Address;
}

function read(url: string) {
  // As in libpq not a file, but the public CAs, here Node's. They also sign third parties' certificates.
  const given = url.replace(/([?&])sslrootcert=system(?=&|$)/, '$1sslmode=verify-full');
  if (given !== url && /[?&]sslmode=(?!verify-full(&|$))/.test(url))
    throw new AddressError('have sslmode=verify-full with sslrootcert=system');
  try {
    const noVerify = /[?&]sslmode=no-verify(&|$)/.test(url); // the driver's name for libpq's `require`
    return parse(given, { useLibpqCompat: !noVerify });
  } catch (cause) {
    const { code, path, message } = cause as NodeJS.ErrnoException;
    if (path !== undefined) throw new AddressError(`name readable files: ${path} (${code})`, { cause });
    if (/sslmode=verify-ca/.test(message))
      throw new AddressError('have sslrootcert with sslmode=verify-ca: a file with the certificate to trust');
    throw new AddressError(`look like ${FORM}`);
  }
}

/** A parsed URL for people: without passwords, even among the parameters, whose names may be encoded. */
export function redactUrl(url: string): string {
  const access = url.replace(/(:\/\/[^/?#:]*):[^/?#]*@/, '$1@');
  return access.replace(/([?&][^=&]*(?:%|password)[^=&]*)=[^&]*/gi, '$1=…');
}

function refuse(name: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(String(value))) return;
  throw new AddressError(`set ${name} to one of ${allowed.join(', ')}`);
}
