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

/** A URL that can't be used. The message goes on from "must", and has nothing of the URL but names: no password. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

const FORM = 'postgres://user@host/database, with what is special encoded as %XX';
/** Values of `sslmode`. Not `allow` and `prefer`: an attacker in between can make them fall back to plain text. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** Values of `target_session_attrs`. Not the read-only ones: nothing here works without writing. */
const SESSIONS = ['read-write', 'primary', 'any'];

/**
 * Reads a `postgres://` URL as libpq does, such as `sslmode`; of several hosts the one that takes writes is used. Parameters
 * that are none of {@link Address} have no effect. @returns an address for each host, in order @throws {AddressError}
 */
export function parseAddresses(url: string): readonly [Address, ...Address[]] {
  const [, scheme, access = '', hosts = '', database = '', parameters = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^@?#]*)?(\?.*)?$/.exec(url) ?? [];
  if (scheme === undefined) throw new AddressError(`look like ${FORM}`);
  const [first, ...others] = hosts.split(',');
  const one = (host: string) => parseAddress(`${scheme}${access}${host}${database}${parameters}`);
  return [one(first ?? ''), ...others.map(one)];
}

function parseAddress(url: string): Address {
  const given = read(url);
  refuse('sslmode', given.sslmode, SSL_MODES);
  refuse('target_session_attrs', given.target_session_attrs, SESSIONS);
  if (String(given.host).includes(',')) throw new AddressError('name several hosts before the database');
  const { port, ssl } = given;
  return {
    ...Object.fromEntries(FIELDS.map((field) => [field, given[field]]).filter(([, value]) => value)),
    ...(port ? { port: Number(port) } : {}),
    ...(ssl === undefined ? {} : { ssl }),
  } as Address;
}

function read(url: string) {
  // As in libpq no file: the public CAs, here those of Node. Others can have a certificate of them, too.
  const given = url.replace(/([?&])sslrootcert=system(?=&|$)/, '$1sslmode=verify-full');
  if (given !== url && /[?&]sslmode=(?!verify-full(&|$))/.test(url))
    throw new AddressError('have sslmode=verify-full beside sslrootcert=system');
  try {
    const noVerify = /[?&]sslmode=no-verify(&|$)/.test(url); // the driver's own word for what libpq calls `require`
    return parse(given, { useLibpqCompat: !noVerify });
  } catch (cause) {
    const { code, path, message } = cause as NodeJS.ErrnoException;
    if (path !== undefined)
      throw new AddressError(`name files that can be read: ${path} (${code})`, { cause });
    if (/sslmode=verify-ca/.test(message)) {
      throw new AddressError(
        'have sslrootcert beside sslmode=verify-ca: a file with the certificate to trust',
      );
    }
    throw new AddressError(`look like ${FORM}`);
  }
}

/** A URL that was parsed, for people: without passwords, also among the parameters, whose names may be encoded. */
export function shownUrl(url: string): string {
  const access = url.replace(/(:\/\/[^/?#:]*):[^/?#]*@/, '$1@');
  return access.replace(/([?&][^=&]*(?:%|password)[^=&]*)=[^&]*/gi, '$1=…');
}

function refuse(name: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(String(value))) return;
  throw new AddressError(`have as ${name} one of ${allowed.join(', ')}`);
}
