import { userInfo } from 'node:os';
import { z } from 'zod';
import { BUILT_IN_LANGUAGES, type Languages } from '../languages/languages.ts';
import type { AdminRoles } from '../rules/account/adminRoles.ts';
import { parseCeiling } from '../rules/common/money.ts';
import { BUILT_IN_OFFER, FURTHER_LIMITS } from '../rules/request/scopeRules.ts';
import { hexOf, sha256 } from '../secrets/digest.ts';
import { redactUrl } from '../store/database/databaseUrl.ts';
import {
  ConfigError,
  type Environment,
  findMistyped,
  readVariables,
  resolveFromCheckout,
  sourceOf,
} from './environment.ts';
import { readFiles } from './files.ts';
import { missingTexts } from './ownWords.ts';
import { combinedProblems, limitProblems, trialProblems } from './problems.ts';
import { VARIABLES } from './variables.ts';

const NAMES = Object.keys(VARIABLES);
const ALL = z.object(VARIABLES);
const OF_DATABASE = ALL.pick({ DATABASE_URL: true, PGPASSWORD: true, DATA_DIR: true });
/** Settings of limits, of all rights alike. Without `DATABASE_URL` the demo has its payments counted. */
const OF_LIMITS = {
  CURRENCY: true,
  DEFAULT_LIMIT: true,
  LIMITS: true,
  SPENDING: true,
  DATABASE_URL: true,
} as const;
/** Trial mode's defaults: the brand of a fictitious wallet, and its directory of payees. */
const TRIAL_BRAND = 'demo/wallet/brand.json';
const TRIAL_DIRECTORY = 'demo/wallet/directory.json';

/** The route to the database: the operator's by URL, trial mode's embedded one by folder. */
export interface DatabaseConfig {
  /** Null in trial mode. */
  readonly databaseUrl: string | null;
  /** For a `databaseUrl` without one. */
  readonly databasePassword: string | null;
  /** Absolute path of trial mode's embedded database and generated secrets. */
  readonly dataDir: string;
}

type Values = z.output<typeof ALL>;

/** The server's environment and files. */
export interface Config
  extends DatabaseConfig,
    ReturnType<typeof limitsOf>,
    Omit<ReturnType<typeof readFiles>, 'languages'> {
  readonly languages: Languages;
  readonly warnings: readonly string[];
  readonly host: Values['HOST'];
  readonly port: number;
  readonly baseUrl: string;
  /** The first signs, all verify. Null in trial mode, which generates one and keeps it in `dataDir`. */
  readonly secrets: Values['SECRETS'] | null;
  readonly codeLifetimeSeconds: number;
  readonly logLevel: Values['LOG_LEVEL'];
  /** The number of proxies in front, or their networks; false for none. */
  readonly trustProxy: number | string[] | false;
  /** How long the server still accepts connections after a signal. */
  readonly drainMs: number;
  /** Port of `/metrics` (null: the public port), and its bearer token. */
  readonly metricsPort: number | null;
  readonly metricsToken: string | null;
  /** Port of the operators' API; null without it. */
  readonly adminPort: number | null;
  readonly adminHost: string;
  /** Absolute. */
  readonly operatorsFile: string | undefined;
  /** Sign-in of operators, at a provider of their own or at that of users; null for tokens only. */
  readonly operatorSignIn: {
    readonly roles: AdminRoles;
    readonly provider: NonNullable<Config['provider']> | null;
  } | null;
  readonly maxConnections: number;
  readonly maxInstances: number;
  readonly demo: boolean;
  /** True under `npm start`: the server ends with npm. */
  readonly startedByNpm: boolean;
  /** The OpenID provider where users sign in; null for our own passwords. */
  readonly provider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly paymentAcr: string | null;
    readonly createsUsers: boolean;
  } | null;
  /** True if spending needs a payment password, even if the user has none. */
  readonly requiresPaymentPassword: boolean;
  readonly timeZone: string;
  /** Of messages for users. */
  readonly notifyUrl: string | null;
}

/** Reads the variables that locate the database. @throws {ConfigError} */
export function readDatabaseConfig(environment: Environment = process.env): DatabaseConfig {
  // A mistyped DATABASE_URL must not lead to the trial's data, either: commands don't name their database.
  const problems = (given: Environment) => [
    ...findMistyped(['DATABASE_URL'], given),
    ...trialProblems({ ...given, HOST: '', ADMIN_HOST: '' }),
  ];
  return databaseConfig(parse(OF_DATABASE, environment, problems));
}

function databaseConfig(values: z.output<typeof OF_DATABASE>): DatabaseConfig {
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    databasePassword: values.PGPASSWORD ?? null,
    dataDir: resolveFromCheckout(values.DATA_DIR),
  };
}

/** A command's operator: `ASSENT_OPERATOR`, or the operating system's user. @throws {ConfigError} */
export function readOperatorName(environment: Environment = process.env): string {
  return parse(ALL.pick({ ASSENT_OPERATOR: true }), environment).ASSENT_OPERATOR ?? systemUser();
}

/** The service's names and host, reserved: no application or password may match them. @throws {ConfigError} */
export function readReservedNames(environment: Environment = process.env): string[] {
  const needed = ALL.pick({ BRAND: true, DATABASE_URL: true, BASE_URL: true });
  const { BRAND, DATABASE_URL, BASE_URL } = parse(needed, environment);
  const { brand } = readFiles({ BRAND: BRAND ?? (DATABASE_URL ? undefined : TRIAL_BRAND) });
  return [...Object.values(brand.name), ...(BASE_URL ? [new URL(BASE_URL).hostname] : [])];
}

/** The rights that a command offers. @param stored what the database has for unset variables @throws {ConfigError} */
export function readOffer(
  environment: Environment,
  stored: Partial<Record<'currency' | 'default_limit' | 'limits', string>>,
) {
  const needed = ALL.pick({ CATALOGUE: true, ...OF_LIMITS });
  const given = {
    ...environment,
    CURRENCY: environment.CURRENCY || stored.currency,
    DEFAULT_LIMIT: environment.DEFAULT_LIMIT || stored.default_limit,
    LIMITS: environment.LIMITS || stored.limits,
  };
  const { CATALOGUE, ...limits } = parse(needed, given, limitProblems);
  return { catalogue: readFiles({ CATALOGUE }).catalogue, ...limitsOf(limits) };
}

/** The languages of the pages. @throws {ConfigError} */
export function readOfferedLanguages(environment: Environment): Languages {
  const { LANGUAGES, ...files } = parse(ALL.pick({ TEXTS: true, LANGUAGES: true }), environment);
  return readFiles(files, LANGUAGES).languages ?? BUILT_IN_LANGUAGES();
}

/** An offer as the database's servers and commands compare it: the texts of rights may differ between builds. */
export function settingsOf({
  catalogue,
  currency,
  defaultLimit: { days, sum },
  furtherLimits,
}: ReturnType<typeof readOffer>) {
  const kinds = [...catalogue].map(([name, { spends, names, isPartOf }]) => [name, spends, names, isPartOf]);
  const digest = hexOf(sha256(JSON.stringify(kinds.sort())));
  return { currency, catalogue: digest, default_limit: `${days},${sum}`, limits: furtherLimits.join() };
}

function limitsOf(values: Pick<Values, keyof typeof OF_LIMITS>) {
  const { CURRENCY: currency, DEFAULT_LIMIT, LIMITS, SPENDING, DATABASE_URL } = values;
  const countsPayments = SPENDING === 'on' || DATABASE_URL === undefined;
  return {
    currency,
    defaultLimit: parseCeiling(DEFAULT_LIMIT) ?? BUILT_IN_OFFER.defaultLimit,
    /** True if resource servers reserve payments here. */
    countsPayments,
    // A server that counts knows both.
    furtherLimits: LIMITS ?? (countsPayments ? FURTHER_LIMITS : []),
  };
}

/** A container may run as a user id without a name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** Reads the server's environment. @throws {ConfigError} with every wrong variable and its allowed values */
export function readConfig(environment: Environment = process.env): Config {
  const values = readValues(environment);
  const { languages = BUILT_IN_LANGUAGES(), ...files } = readFiles(values, values.LANGUAGES);
  return {
    ...databaseConfig(values),
    ...files,
    languages,
    warnings: [...findMistyped(NAMES, environment), ...missingTexts(languages, files)],
    host: values.HOST,
    port: values.PORT,
    baseUrl: values.BASE_URL,
    secrets: values.SECRETS ?? null,
    codeLifetimeSeconds: values.CODE_LIFETIME_SECONDS,
    logLevel: values.LOG_LEVEL,
    trustProxy: values.TRUST_PROXY ?? false,
    drainMs: values.DRAIN_SECONDS * 1000,
    metricsPort: values.METRICS_PORT ?? null,
    metricsToken: values.METRICS_TOKEN ?? null,
    adminPort: values.ADMIN_PORT ?? null,
    adminHost: values.ADMIN_HOST,
    operatorsFile: values.OPERATORS_FILE && resolveFromCheckout(values.OPERATORS_FILE),
    operatorSignIn: values.ADMIN_ROLES
      ? { roles: values.ADMIN_ROLES, provider: providerOf(values, 'ADMIN_SIGN_IN') }
      : null,
    maxConnections: values.MAX_CONNECTIONS,
    maxInstances: values.MAX_INSTANCES,
    demo: values.DATABASE_URL === undefined && values.DEMO === 'on',
    startedByNpm: environment.npm_lifecycle_event === 'start',
    provider: providerOf(values, 'SIGN_IN'),
    requiresPaymentPassword: values.PAYMENT_PASSWORD === 'required',
    timeZone: values.TIME_ZONE,
    notifyUrl: values.NOTIFY_URL ?? null,
    ...limitsOf(values),
  };
}

/** @param name how its variables begin */
function providerOf(values: Values, name: 'SIGN_IN' | 'ADMIN_SIGN_IN'): Config['provider'] {
  const issuer = values[`${name}_ISSUER`];
  if (issuer === undefined) return null;
  return {
    issuer,
    clientId: values[`${name}_CLIENT_ID`] ?? '',
    clientSecret: values[`${name}_CLIENT_SECRET`] ?? '',
    paymentAcr: values.SIGN_IN_PAYMENT_ACR ?? null,
    createsUsers: values.SIGN_IN_NEW_USERS === 'create',
  };
}

/** The values of all server variables; trial mode has some other defaults. */
function readValues(environment: Environment) {
  const values = parse(ALL, environment, combinedProblems);
  const inTrial = (file: string) => (values.DATABASE_URL ? undefined : file);
  return {
    ...values,
    BASE_URL: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    BRAND: values.BRAND ?? inTrial(TRIAL_BRAND),
    DIRECTORY: values.DIRECTORY ?? inTrial(TRIAL_DIRECTORY),
    ASSENT_OPERATOR: values.ASSENT_OPERATOR ?? systemUser(),
  };
}

/** Each variable with its origin and value; secrets are masked. @throws {ConfigError} */
export function describeVariables(environment: Environment = process.env) {
  return Object.entries(readValues(environment)).map(([variable, value = null]) => {
    return { variable, value: redacted(variable, value), origin: sourceOf(variable, environment) };
  });
}

function redacted(variable: string, value: unknown): unknown {
  if (variable === 'SECRETS' && Array.isArray(value)) return `${value.length} set`;
  if (variable === 'DATABASE_URL' && typeof value === 'string') return redactUrl(value);
  return /^PGPASSWORD$|_TOKEN$|_SECRET$/.test(variable) && value !== null ? 'set' : value;
}

function parse<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Environment,
  combined: (environment: Environment) => string[] = () => [],
): z.output<Schema> {
  const { values, problems } = readVariables(Object.keys(schema.shape), environment);
  const result = schema.safeParse(values);
  problems.push(...combined({ ...environment, ...values }));
  for (const { path, message } of result.error?.issues ?? []) {
    const origin = sourceOf(String(path[0]), environment);
    problems.push(`${String(path[0])}${origin.endsWith('_FILE') ? ` from ${origin}` : ''} ${message}.`);
  }
  if (!result.success || problems.length > 0)
    throw new ConfigError([...new Set([...problems, ...findMistyped(NAMES, environment)])]);
  return result.data;
}
