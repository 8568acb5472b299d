import { z } from 'zod';
import { type AdminRoles, parseAdminRoles } from '../rules/account/adminRoles.ts';
import { ACCESS_LEVELS } from '../rules/account/role.ts';
import { DEFAULT_CODE_SECONDS, MAX_CODE_SECONDS } from '../rules/common/lifetimes.ts';
import { CONNECTIONS, INSTANCES, MAX_LANGUAGES } from '../rules/common/limits.ts';
import { parseCeiling } from '../rules/common/money.ts';
import { isLoopback } from '../rules/common/network.ts';
import { LANGUAGE_TAG } from '../rules/common/perLanguage.ts';
import { findUnclearCharacter } from '../rules/common/text.ts';
import { FURTHER_LIMITS } from '../rules/request/scopeRules.ts';
import { AddressError, parseAddresses } from '../store/database/databaseUrl.ts';

// Every environment variable: its values, default, error message and description, the source of
// docs/operate/configuration.md. `unset` describes a default that no schema gives.

const text = z.string();

const databaseUrl = text.superRefine((url, context) => {
  try {
    parseAddresses(url);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    context.addIssue({ code: 'custom', message: `must ${error.message}` });
  }
});

const wholeNumber = (min: number, max: number) => {
  const fits = (value: string) => /^\d{1,6}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return text.refine(fits, `must be a whole number from ${min} to ${max}`).transform(Number);
};

/** One of some words, of which the first is the default. */
const oneOf = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  z.enum(words, `must be ${words.join(' or ')}`).default(words[0]);

const list = (value: string): string[] => value.split(',').map((entry) => entry.trim());

const secret = text.min(32, 'must be entries of 32 or more characters, separated by commas');

/** Addresses, or networks as an address and its prefix length, which is never 0. */
const networks = z.array(
  z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]).refine((one) => !one.endsWith('/0')),
);

/** Microsoft's addresses for all tenants, and a template of them: any organization could sign in its users. */
const OF_ANY_TENANT = /[{}]|%7[bd]|\.microsoftonline\.\w+\/(common|organizations|consumers)(\/|$)/i;

/** OpenID Connect Discovery 1.0, section 3; on this machine also over http. */
function isIssuer(url: string): boolean {
  if (!URL.canParse(url) || OF_ANY_TENANT.test(url) || url.includes('/.well-known/')) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(url);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && username + password + search + hash === '';
}

const issuer = text.refine(
  isIssuer,
  'must be the https:// address of an OpenID provider, without a query or /.well-known/, and of one tenant: its id instead of {tenantid}, common, organizations or consumers',
);

/** True for a name known to `Intl`. Newer Node versions also accept offsets such as +03:00, which have no name. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const DEFAULT_PORT = '3000';

export const VARIABLES = {
  DATABASE_URL: databaseUrl.optional().meta({
    description: 'PostgreSQL 15 or newer, as `postgres://role@host/database`',
    unset: 'trial mode, with an embedded PostgreSQL',
  }),
  PGPASSWORD: text.optional().describe('the password, if `DATABASE_URL` has none'),
  DATA_DIR: text
    .default('.data')
    .describe(
      'trial mode: folder of the embedded database and generated secrets; a relative path starts at the checkout',
    ),
  PORT: wholeNumber(1, 65535).default(Number(DEFAULT_PORT)).describe('port to listen on'),
  HOST: text
    .default('localhost')
    .describe('address to listen on; the image sets 0.0.0.0, the systemd units 127.0.0.1'),
  BASE_URL: text
    .refine(
      (url) => URL.canParse(url) && /^https?:\/\/[^/?#@\\\s]+\/?$/.test(url),
      'must be an http or https origin without a path',
    )
    .transform((url) => new URL(url).origin)
    .optional()
    .meta({
      description: 'public address of the service, without a path; request headers never change it',
      unset: '`http://localhost:PORT`; required with `DATABASE_URL`',
    }),
  SECRETS: text
    .transform(list)
    .pipe(z.tuple([secret], secret))
    .optional()
    .meta({
      description:
        'entries of 32 or more characters, separated by commas: the first signs forms and cookies, all verify',
      unset: 'generated in trial mode; required with `DATABASE_URL`',
    }),
  CODE_LIFETIME_SECONDS: wholeNumber(1, MAX_CODE_SECONDS)
    .default(DEFAULT_CODE_SECONDS)
    .describe(`lifetime of an authorization code, 1 to ${MAX_CODE_SECONDS}`),
  LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
    .default('info')
    .describe(LOG_LEVELS.join(', ')),
  TRUST_PROXY: text
    .refine(
      (value) => /^\d{1,2}$/.test(value) || networks.safeParse(list(value)).success,
      'must be a number of proxies, or addresses and networks such as 10.0.0.0/8 separated by commas',
    )
    .transform((value) => (/^\d+$/.test(value) ? Number(value) : list(value)))
    .optional()
    .describe(
      'number of reverse proxies, or their addresses and networks, whose `X-Forwarded-For` is believed; no other header is',
    ),
  METRICS_PORT: wholeNumber(1, 65535).optional().meta({
    description: 'a separate port for `/metrics`, at `HOST`; each replica on a machine needs its own',
    unset: '`/metrics` at `PORT`',
  }),
  METRICS_TOKEN: text
    .regex(/^[\x21-\x7e]{32,}$/, 'must have 32 or more visible ASCII characters, without spaces')
    .optional()
    .describe('bearer token that readers of `/metrics` must send, 32 or more characters without spaces'),
  ADMIN_PORT: wholeNumber(1, 65535).optional().meta({
    description:
      'a separate port for the operators’ [HTTP API](api.md) and [support pages](support.md), at `ADMIN_HOST`',
    unset: 'none: the API is off',
  }),
  ADMIN_HOST: text
    .default('localhost')
    .describe('address of the operators’ HTTP API; it must not be reachable from users’ networks'),
  OPERATORS_FILE: text
    .optional()
    .describe(
      'JSON file with operators of the HTTP API, read again when it changes: [OPERATORS_FILE](#operators_file)',
    ),
  ADMIN_ROLES: text
    .transform(parseAdminRoles)
    .pipe(
      z.custom<AdminRoles>(
        Boolean,
        `must be a claim and its values with roles, such as groups support=supports admins=destroys; roles are ${ACCESS_LEVELS.join(', ')}`,
      ),
    )
    .optional()
    .describe(
      'operators sign in to the [support pages](support.md#sign-in) at an OpenID provider: a claim of its ID token, and the roles that its values give',
    ),
  ADMIN_SIGN_IN_ISSUER: issuer.optional().meta({
    description: 'issuer of that provider; it requires the next two variables',
    unset: 'that of `SIGN_IN_ISSUER`',
  }),
  ADMIN_SIGN_IN_CLIENT_ID: text.optional().describe('`client_id` of the support pages there'),
  ADMIN_SIGN_IN_CLIENT_SECRET: text.optional().describe('their client secret there'),
  DRAIN_SECONDS: wholeNumber(0, 60)
    .default(0)
    .describe(
      'how long a stopping server still accepts connections while it is not ready, 0 to 60; 5 behind a load balancer',
    ),
  MAX_CONNECTIONS: wholeNumber(CONNECTIONS.min, CONNECTIONS.max)
    .default(CONNECTIONS.default)
    .describe(
      'maximum number of open connections; above 90 % of it, a new connection replaces the longest idle one',
    ),
  MAX_INSTANCES: wholeNumber(INSTANCES.min, INSTANCES.max)
    .default(INSTANCES.default)
    .describe('maximum number of live authorizations of one user for one client, by `instance_name`'),
  PAYMENT_PASSWORD: oneOf('optional', 'required').describe(
    '`required`: users without a payment password can’t allow a right that spends; `optional`: Allow alone suffices for them',
  ),
  SIGN_IN_ISSUER: issuer.optional().meta({
    description:
      'issuer of the OpenID provider where users sign in; it requires the next two variables, see [Moving in](moving-in.md)',
    unset: 'users sign in on the pages of Assent',
  }),
  SIGN_IN_CLIENT_ID: text.optional().describe('`client_id` of Assent at the provider'),
  SIGN_IN_CLIENT_SECRET: text.optional().describe('client secret of Assent at the provider'),
  SIGN_IN_PAYMENT_ACR: text
    .regex(/^[\x21-\x7e]+$/, 'must be one value without spaces')
    .optional()
    .meta({
      description: 'the `acr` of an ID token that confirms a payment right',
      unset: 'the payment password of Assent confirms it',
    }),
  SIGN_IN_NEW_USERS: oneOf('create', 'refuse').describe(
    'whether a user whom the provider knows, and Assent doesn’t, is registered or refused',
  ),
  DEMO: oneOf('on', 'off').describe(
    'trial mode: `off` leaves out the demo application and its client, users and resource',
  ),
  CURRENCY: text
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters, such as RUB')
    .default('RUB')
    .describe('the one currency of all limits, ISO 4217'),
  DEFAULT_LIMIT: text
    .refine(parseCeiling, 'must be days and a sum, such as 1,3000 or 30,99.50')
    .default('1,3000')
    .describe(
      'default limit, as days and sum, of a right that spends, for requests without a limit; required when `CURRENCY` is not RUB',
    ),
  SPENDING: oneOf('off', 'on').describe(
    '`on`: the server counts payments at `/oauth/spend`: [Payment APIs](../integrate/resources.md); always in trial mode',
  ),
  LIMITS: z
    .enum(['each', 'until', 'each,until'], 'must be each, until or each,until')
    .transform((words) => FURTHER_LIMITS.filter((one) => words.includes(one)))
    .optional()
    .meta({
      description:
        'what requests may add to a limit: `each`, `until` or `each,until`; [payment APIs](../integrate/scopes.md#largest-payment-and-last-day) that count by themselves must know it first',
      unset: 'none; both with `SPENDING=on`',
    }),
  NOTIFY_URL: text
    .refine(
      (url) => URL.canParse(url) && /^https?:\/\/[^@#]+$/.test(url),
      'must be an http or https address without a user or a fragment',
    )
    .optional()
    .meta({
      description: 'where `assent notify` posts [messages for users](notify.md), to be sent to them',
      unset: 'none',
    }),
  TIME_ZONE: text
    .refine(isTimeZone, 'must be the IANA name of a time zone, such as Europe/Moscow or UTC')
    .default('UTC')
    .describe('IANA name of the zone of days and times on pages, such as `Europe/Moscow`'),
  CATALOGUE: text.optional().meta({
    description: 'JSON file with the rights that are offered and their texts: [CATALOGUE](#catalogue)',
    unset: 'built in',
  }),
  TEXTS: text.optional().meta({
    description: 'folder of texts by language, such as `pt-BR.json`: [Your own words](words.md)',
    unset: 'built in: en and ru',
  }),
  LANGUAGES: text
    .transform(list)
    .refine(
      (tags) => tags.every((tag) => LANGUAGE_TAG.test(tag)) && new Set(tags).size === tags.length,
      'must be language tags such as pt-BR,en, separated by commas',
    )
    .refine((tags) => tags.length <= MAX_LANGUAGES, `must be at most ${MAX_LANGUAGES} languages`)
    .default(['en', 'ru'])
    .describe('languages of the pages, of which the first is the default'),
  BRAND: text.optional().meta({
    description: 'JSON file with name, logo, colours and support of the service: [BRAND](#brand)',
    unset: 'Assent; in trial mode, a fictional wallet',
  }),
  DIRECTORY: text.optional().meta({
    description: 'JSON file with the names of shops and accounts: [DIRECTORY](#directory)',
    unset: 'none; in trial mode, some fictional names',
  }),
  ASSENT_OPERATOR: text
    .refine(
      (name) => name.length <= 100 && findUnclearCharacter(name) === undefined,
      'must be a name of at most 100 visible characters',
    )
    .optional()
    .meta({
      description: 'operator of a command in the audit trail: a person, a token or a pipeline',
      unset: 'the user of the operating system',
    }),
};
