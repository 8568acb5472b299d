import { isIP } from 'node:net';
import { z } from 'zod';
import { DEFAULT_CODE_SECONDS, MAX_CODE_SECONDS } from '../rules/common/lifetimes.ts';
import { CONNECTIONS, INSTANCES } from '../rules/common/limits.ts';
import { findUnclearInName } from '../rules/common/text.ts';
import { AddressError, parseAddresses } from '../store/database/databaseUrl.ts';

// Every variable of the environment, once: what it may be, its default, and what a message says that it must be.

const MIN_SECRET_CHARACTERS = 32;
const MAX_DRAIN_SECONDS = 60;

const databaseUrl = z
  .string()
  .superRefine((url, context) => {
    try {
      parseAddresses(url);
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      context.addIssue({ code: 'custom', message: `must ${error.message}` });
    }
  })
  .optional();

const wholeNumber = (min: number, max: number) => {
  const fits = (text: string) => /^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max;
  return z.string().refine(fits, `must be a whole number from ${min} to ${max}`).transform(Number);
};

const list = (text: string): string[] => text.split(',').map((entry) => entry.trim());

/** An address, or a network: an address and how many of its bits count, but never none of them. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '1', ...more] = text.split('/');
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= maxBits;
}

/** True for a name that `Intl` knows. Newer versions of Node take offsets such as +03:00, too, which have no name. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const DATABASE_VARIABLES = {
  DATABASE_URL: databaseUrl,
  PGPASSWORD: z.string().optional(),
  DATA_DIR: z.string().default('.data'),
};

export const DEFAULT_PORT = '3000';

export const VARIABLES = {
  ...DATABASE_VARIABLES,
  PORT: wholeNumber(1, 65535).default(Number(DEFAULT_PORT)),
  HOST: z.string().default('localhost'),
  BASE_URL: z
    .string()
    .refine(
      (url) => URL.canParse(url) && /^https?:\/\/[^/?#@\\\s]+\/?$/.test(url),
      'must be http:// or https://, a host and nothing behind it',
    )
    .transform((url) => new URL(url).origin)
    .optional(),
  SECRETS: z
    .string()
    .transform(list)
    .refine(
      (entries): entries is [string, ...string[]] =>
        entries.every((entry) => entry.length >= MIN_SECRET_CHARACTERS),
      `must be entries of ${MIN_SECRET_CHARACTERS} or more characters, separated by commas`,
    )
    .optional(),
  CODE_LIFETIME_SECONDS: wholeNumber(1, MAX_CODE_SECONDS).default(DEFAULT_CODE_SECONDS),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  TRUST_PROXY: z
    .string()
    .refine(
      (value) => /^\d{1,2}$/.test(value) || list(value).every(isNetwork),
      'must be a number of proxies, or addresses and networks such as 10.0.0.0/8 separated by commas',
    )
    .transform((value) => (/^\d+$/.test(value) ? Number(value) : list(value)))
    .optional(),
  METRICS_PORT: wholeNumber(1, 65535).optional(),
  METRICS_TOKEN: z
    .string()
    .regex(
      new RegExp(`^[\\x21-\\x7e]{${MIN_SECRET_CHARACTERS},}$`),
      `must be ${MIN_SECRET_CHARACTERS} or more letters, digits and signs without spaces`,
    )
    .optional(),
  DRAIN_SECONDS: wholeNumber(0, MAX_DRAIN_SECONDS).default(0),
  MAX_CONNECTIONS: wholeNumber(CONNECTIONS.min, CONNECTIONS.max).default(CONNECTIONS.default),
  MAX_INSTANCES: wholeNumber(INSTANCES.min, INSTANCES.max).default(INSTANCES.default),
  DEMO: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CURRENCY: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters, such as RUB')
    .default('RUB'),
  TIME_ZONE: z
    .string()
    .refine(isTimeZone, 'must be the IANA name of a time zone, such as Europe/Moscow or UTC')
    .default('UTC'),
  CATALOGUE: z.string().optional(),
  BRAND: z.string().optional(),
  DIRECTORY: z.string().optional(),
};

const NO_STANDBYS =
  'is no longer read: introspection asks the primary. Leave it out, and set DATABASE_URL alone; see "Lighter" in docs/operating.md.';

/** Variables of earlier versions, each with what a message says of it: a server doesn't start while one is set. */
export const GONE_VARIABLES: Readonly<Record<string, string>> = {
  WORKERS:
    'is no longer read: a server is one process. Leave it out, and start more servers for more cores; see "Lighter" in docs/operating.md.',
  DATABASE_READ_URL: NO_STANDBYS,
  DATABASE_READ_URL_FILE: NO_STANDBYS,
  READ_LAG_MS: NO_STANDBYS,
};

/** Variables of commands, for the audit trail. */
export const OPERATOR_VARIABLES = {
  ASSENT_OPERATOR: z
    .string()
    .refine(
      (name) => name.length <= 100 && findUnclearInName(name) === undefined,
      'must be a name of at most 100 characters that can be seen',
    )
    .optional(),
};
