import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { DEFAULT_CODE_SECONDS, MAX_CODE_SECONDS } from './rules/lifetimes.ts';
import { CONNECTIONS, INSTANCES, READ_LAG_MS } from './rules/limits.ts';
import { findUnclearInName } from './rules/text.ts';
import { AddressError, parseAddresses } from './store/database/databaseUrl.ts';

export { shownUrl } from './store/database/databaseUrl.ts';

// Every variable of the environment, once: what it may be, its default, and what a message says that it must be.

const MIN_SECRET_CHARACTERS = 32;
const MAX_DRAIN_SECONDS = 60;
const MAX_WORKERS = 64;

/** The address of one or several PostgreSQLs. */
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

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);

const list = (text: string): string[] => text.split(',').map((entry) => entry.trim());

/** An address, or a network: an address and how many of its bits count, but never none of them. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '1', ...more] = text.split('/');
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= maxBits;
}

/** What `Intl` knows; of the newer versions of Node also offsets such as +03:00, which have no name. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What every command needs to find the database. */
export const DATABASE_VARIABLES = {
  DATABASE_URL: databaseUrl,
  DATABASE_READ_URL: databaseUrl,
  READ_LAG_MS: wholeNumber(READ_LAG_MS.min, READ_LAG_MS.max).optional(),
  PGPASSWORD: z.string().optional(),
  DATA_DIR: z.string().default('.data'),
};

export const DEFAULT_PORT = '3000';

/** What the server needs. */
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
  WORKERS: z
    .string()
    .transform((text) => (text === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : Number(text)))
    .refine(
      (count) => Number.isInteger(count) && count >= 1 && count <= MAX_WORKERS,
      `must be auto, or a whole number from 1 to ${MAX_WORKERS}`,
    )
    .default(1),
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

/** Who gives the commands, for the audit trail. */
export const OPERATOR_VARIABLES = {
  ASSENT_OPERATOR: z
    .string()
    .refine(
      (name) => name.length <= 100 && findUnclearInName(name) === undefined,
      'must be a name of at most 100 characters that can be seen',
    )
    .optional(),
};
