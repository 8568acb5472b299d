import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { BUILT_IN_CATALOGUE, type Catalogue } from './rules/catalogue.ts';
import { DEFAULT_CODE_SECONDS, MAX_CODE_SECONDS } from './rules/lifetimes.ts';
import { RIGHT_NAMES } from './rules/scope.ts';
import { findUnclearInName, isVisible } from './rules/text.ts';
import { AddressError, parseAddresses } from './store/databaseUrl.ts';

/** The folder of package.json: relative paths are relative to it, wherever the command was started. */
const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));

const MIN_SECRET = 32;
/** How the secret of docker-compose.yml begins, which everybody can read. */
const PUBLIC_SECRET = 'for-trying-out-only';

/** Which database: the operator's, or our own embedded one in trial mode. */
export interface DatabaseConfig {
  readonly databaseUrl: string | null;
  /** For a `databaseUrl` that holds none. */
  readonly databasePassword: string | null;
  /** Absolute path of the embedded database and the generated secrets. */
  readonly dataDir: string;
}

/** Everything `assent serve` needs. */
export interface Config extends DatabaseConfig {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  /** Null in trial mode: they are generated and kept in `dataDir`. */
  readonly secrets: readonly [string, ...string[]] | null;
  readonly codeLifetimeSeconds: number;
  readonly logLevel: string;
  readonly trustProxy: false | number | string[];
  readonly maxConnections: number;
  readonly maxInstances: number;
  readonly demo: boolean;
  /** Whether it was started by `npm start`, whose end is to be the server's, too. */
  readonly startedByNpm: boolean;
  readonly currency: string;
  readonly catalogue: Catalogue;
}

/** Wrong values in the environment: one line for each. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

const wholeNumber = (lowest: number, highest: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from ${lowest} to ${highest}`)
    .transform(Number)
    .refine((n) => n >= lowest && n <= highest, `must be a whole number from ${lowest} to ${highest}`);

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** An address, or a network as an address and the number of bits that count. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '1', ...more] = text.split('/');
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest;
}

/** Every variable, once. An empty value is as if it were not set, as compose files pass it. */
const DATABASE_VARIABLES = {
  DATABASE_URL: z
    .string()
    .superRefine((url, context) => {
      try {
        parseAddresses(url);
      } catch (error) {
        if (!(error instanceof AddressError)) throw error;
        context.addIssue({ code: 'custom', message: `must ${error.message}` });
      }
    })
    .optional(),
  PGPASSWORD: z.string().optional(),
  DATA_DIR: z.string().default('.data'),
};

const VARIABLES = {
  ...DATABASE_VARIABLES,
  PORT: wholeNumber(1, 65535).default(3000),
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
    .transform((list) => list.split(',').map((entry) => entry.trim()))
    .refine(
      (entries): entries is [string, ...string[]] => entries.every((entry) => entry.length >= MIN_SECRET),
      `must be entries of ${MIN_SECRET} or more characters, separated by commas`,
    )
    .optional(),
  CODE_LIFETIME_SECONDS: wholeNumber(1, MAX_CODE_SECONDS).default(DEFAULT_CODE_SECONDS),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  TRUST_PROXY: z
    .string()
    .refine(
      (value) => /^\d{1,2}$/.test(value) || value.split(',').every((network) => isNetwork(network.trim())),
      'must be a number of proxies, or addresses and networks such as 10.0.0.0/8 separated by commas',
    )
    .transform((value) =>
      /^\d+$/.test(value) ? Number(value) : value.split(',').map((network) => network.trim()),
    )
    .optional(),
  MAX_CONNECTIONS: wholeNumber(10, 100_000).default(4_000),
  MAX_INSTANCES: wholeNumber(1, 100_000).default(100),
  DEMO: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CURRENCY: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters, such as RUB')
    .default('RUB'),
  CATALOGUE: z.string().optional(),
};

/** Those that may be given as a file, in a variable with `_FILE` behind the name. */
const SECRET_VARIABLES = ['DATABASE_URL', 'PGPASSWORD', 'SECRETS'];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads what every command needs to find the database.
 *
 * @throws {ConfigError}
 */
export function readDatabaseConfig(environment: Environment = process.env): DatabaseConfig {
  return databaseConfig(parse(z.object(DATABASE_VARIABLES), environment, () => []));
}

/** Who gives the commands, for the audit trail. */
const OPERATOR_VARIABLES = {
  ASSENT_OPERATOR: z
    .string()
    .refine(
      (name) => name.length <= 100 && findUnclearInName(name) === undefined,
      'must be a name of at most 100 characters that can be seen',
    )
    .optional(),
};

/**
 * Who runs a command: who `ASSENT_OPERATOR` says, or the user of the operating system.
 *
 * @throws {ConfigError}
 */
export function readOperator(environment: Environment = process.env): string {
  const { ASSENT_OPERATOR } = parse(z.object(OPERATOR_VARIABLES), environment, () => []);
  return ASSENT_OPERATOR ?? systemUser();
}

/** A container may run as a number that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

function databaseConfig(values: z.output<z.ZodObject<typeof DATABASE_VARIABLES>>): DatabaseConfig {
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    databasePassword: values.PGPASSWORD ?? null,
    dataDir: resolve(CHECKOUT, values.DATA_DIR),
  };
}

/**
 * Reads the whole environment of the server.
 *
 * @throws {ConfigError} naming every variable that is wrong, what is wrong and what is allowed
 */
export function readConfig(environment: Environment = process.env): Config {
  const values = parse(z.object(VARIABLES), environment, combinedProblems);
  return {
    ...databaseConfig(values),
    host: values.HOST,
    port: values.PORT,
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    secrets: values.SECRETS ?? null,
    codeLifetimeSeconds: values.CODE_LIFETIME_SECONDS,
    logLevel: values.LOG_LEVEL,
    trustProxy: values.TRUST_PROXY ?? false,
    maxConnections: values.MAX_CONNECTIONS,
    maxInstances: values.MAX_INSTANCES,
    demo: values.DATABASE_URL === undefined && values.DEMO === 'on',
    startedByNpm: environment.npm_lifecycle_event === 'start',
    currency: values.CURRENCY,
    catalogue:
      values.CATALOGUE === undefined
        ? BUILT_IN_CATALOGUE
        : readCatalogue(resolve(CHECKOUT, values.CATALOGUE)),
  };
}

/** What no variable can say alone: outside trial mode nothing that matters is guessed or known to everybody. */
function combinedProblems(environment: Environment): string[] {
  if (!environment.DATABASE_URL) return [];
  const problems = ['BASE_URL', 'SECRETS']
    .filter((name) => !environment[name] && fileOf(name, environment) === undefined)
    .map((name) => `${name} is required when DATABASE_URL is set.`);
  if (environment.SECRETS?.includes(PUBLIC_SECRET) && !isThisMachine(environment.BASE_URL)) {
    problems.push('SECRETS must be your own when BASE_URL is not localhost: openssl rand -hex 32 makes one.');
  }
  return problems;
}

function isThisMachine(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && new URL(url).hostname === 'localhost';
}

function parse<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Environment,
  combined: (given: Environment) => string[],
): z.output<Schema> {
  const problems: string[] = [];
  const given = Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, read(name, environment, problems)]),
  );
  const result = schema.safeParse(given);
  const wrong = result.success
    ? []
    : result.error.issues.map(
        ({ path: [name], message }) => `${source(String(name), environment)} ${message}.`,
      );
  problems.push(...combined({ ...environment, ...given }), ...wrong);
  if (!result.success || problems.length > 0) throw new ConfigError(problems);
  return result.data;
}

/** The value of a variable, from its file where it is given as one. */
function read(name: string, environment: Environment, problems: string[]): string | undefined {
  const value = environment[name] || undefined;
  const file = fileOf(name, environment);
  if (file === undefined) return value;
  if (value === undefined) return readSecret(`${name}_FILE`, file, problems);
  problems.push(`${name} and ${name}_FILE are both set: leave one of them out.`);
  return value;
}

function fileOf(name: string, environment: Environment): string | undefined {
  return (SECRET_VARIABLES.includes(name) && environment[`${name}_FILE`]) || undefined;
}

function source(name: string, environment: Environment): string {
  return fileOf(name, environment) === undefined ? name : `${name} from ${name}_FILE`;
}

/** Without the line end behind it, which editors and `echo` write. */
function readSecret(variable: string, file: string, problems: string[]): string | undefined {
  try {
    const secret = readFileSync(resolve(CHECKOUT, file), 'utf8').replace(/[\r\n]+$/, '');
    if (secret !== '') return secret;
    problems.push(`${variable} ${file} is empty.`);
  } catch (error) {
    problems.push(`${variable} ${file} can't be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  return undefined;
}

const NAMES_A_TARGET: readonly string[] = ['payment.to-pattern', 'payment.to-account', 'money-source'];

/** A sentence that left out whom the money goes to would have users allow what they can't see. */
const CATALOGUE_FILE = z
  .partialRecord(z.enum(RIGHT_NAMES), z.string().refine(isVisible, 'must say something'))
  .refine(
    (catalogue) =>
      Object.entries(catalogue).every(
        ([name, text]) => text.split('{target}').length === (NAMES_A_TARGET.includes(name) ? 2 : 1),
      ),
    `the sentences of ${NAMES_A_TARGET.join(', ')} need {target} once, the others must not have it`,
  );

/** The operator's catalogue: a JSON object from the name of a right to its sentence. */
function readCatalogue(file: string): Catalogue {
  try {
    return CATALOGUE_FILE.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    const why =
      cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll('\n', ' ') : (cause as Error).message;
    throw new ConfigError([`CATALOGUE must be a JSON file of sentences by right: ${why}.`]);
  }
}
