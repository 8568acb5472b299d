import { Option } from 'commander';
import { type Config, ConfigError, describeVariables, readConfig, readDatabaseConfig } from '../config.ts';
import { examineStandbys } from '../flows/standbyFindings.ts';
import { openStore, type Store } from '../openStore.ts';
import { isLoopback } from '../rules/network.ts';
import { explainTrouble } from '../store/database/errorTexts.ts';
import type { CommandTable } from './addCommands.ts';
import { checkDatabase } from './databaseChecks.ts';
import { advice, type Finding, ok, type Verdict, wrong } from './finding.ts';
import { checkInvariants } from './invariantChecks.ts';
import { inJson, print, printList, warn } from './output.ts';
import { readNumber } from './readOption.ts';
import { toStandardError } from './withStore.ts';

const ADDRESS_TIMEOUT_MS = 5_000;

/** `assent doctor` looks at what usually is wrong before a person has to; `assent config show` */
export const DOCTOR_COMMANDS: CommandTable = {
  doctor: [
    'check configuration, database and address; exit code 1 when Assent can’t serve like this',
    check,
    new Option(
      '--invariants',
      'check instead what must be true of the schema and of all rows; reads whole tables, beside running servers',
    ),
    new Option('--patience <seconds>', 'how long each question to the database may take')
      .argParser(readNumber(99_999))
      .default(60),
  ],
  config: ['look at the configuration'],
  'config show': ['list all variables: what is in force, but no secret, and where it is from', showConfig],
};

interface DoctorOptions {
  readonly invariants?: boolean;
  readonly patience: number;
}

async function check({ invariants = false, patience }: DoctorOptions): Promise<void> {
  if (invariants) readDatabaseConfig(); // what is wrong with it is no finding there, and ends the command
  const findings = invariants
    ? await checkStore(({ pool }) => checkInvariants(pool, patience))
    : [...checkConfiguration(), ...(await checkStore(checkHosts)), ...(await checkAddress())];
  print(findings, findings.map(lineOf).join('\n'));
  if (findings.some(({ level }) => level === 'error')) process.exitCode = 1;
}

async function showConfig(): Promise<void> {
  for (const warning of readConfig().warnings) warn(warning);
  const variables = describeVariables();
  if (inJson) print({ variables }, '');
  else await printList([variables], (page) => page, 'no variables');
}

function lineOf({ level, text, remedy }: Finding): string {
  return `${level.padEnd(6)}  ${text}${remedy === null ? '' : `: ${remedy}`}`;
}

function checkConfiguration(): Finding[] {
  const { config, problems } = readOrExplain();
  const judge = config === null ? wrong : advice;
  const verdicts = problems.map((problem) => judge(problem, 'see "Environment" in docs/configuration.md'));
  if (config !== null) verdicts.unshift(ok('the configuration is complete'));
  return verdicts.map((verdict) => ({ check: 'configuration', ...verdict }));
}

/** Reads the environment. @returns what is wrong there, one sentence each; no configuration if it can't serve so */
function readOrExplain(): { config: Config | null; problems: string[] } {
  const sentences = (lines: readonly string[]) => lines.map((line) => line.replace(/\.$/, ''));
  try {
    const config = readConfig();
    return { config, problems: sentences(config.warnings) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: null, problems: sentences(error.message.split('\n')) };
  }
}

/** The findings about the database; none while the configuration doesn't say which. */
async function checkStore(look: (store: Store) => Promise<Finding[]>): Promise<Finding[]> {
  try {
    const store = await openStore(readDatabaseConfig(), toStandardError, 'server');
    return await look(store).finally(() => store.close());
  } catch (error) {
    if (error instanceof ConfigError) return [];
    return [{ check: 'database', ...wrong(explainTrouble(error), 'see "Database" in docs/operating.md') }];
  }
}

async function checkHosts({ pool, standbys }: Store): Promise<Finding[]> {
  const findings = await checkDatabase(pool);
  const found = await examineStandbys(standbys);
  return [...findings, ...found.map((finding) => ({ check: 'standby', ...finding }))];
}

async function checkAddress(): Promise<Finding[]> {
  const { config } = readOrExplain();
  if (config === null) return [];
  const { baseUrl } = config;
  return [
    { check: 'https', ...checkScheme(baseUrl) },
    { check: 'cookies', ...checkCookies(baseUrl) },
    { check: 'address', ...(await checkReachable(baseUrl)) },
  ];
}

function checkScheme(baseUrl: string): Verdict {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:') return ok(`BASE_URL ${baseUrl} is https`);
  return isLoopback(hostname)
    ? ok(`BASE_URL ${baseUrl} is this machine`)
    : wrong(`BASE_URL ${baseUrl} is plain http`, 'put a proxy with TLS in front, and use its address');
}

function checkCookies(baseUrl: string): Verdict {
  return baseUrl.startsWith('https:')
    ? ok('cookies are Secure and have the prefix __Host-')
    : advice('cookies have no prefix __Host-: other hosts could set them', 'use https outside a trial');
}

/** Checks that Assent answers at `BASE_URL`: a proxy may lead it somewhere else. */
async function checkReachable(baseUrl: string): Promise<Verdict> {
  try {
    const answer = await fetch(`${baseUrl}/.well-known/oauth-authorization-server`, {
      signal: AbortSignal.timeout(ADDRESS_TIMEOUT_MS),
      redirect: 'error',
    });
    const { issuer } = (await answer.json()) as { issuer?: unknown };
    if (issuer === baseUrl) return ok(`Assent answers at ${baseUrl}`);
    const who = typeof issuer === 'string' ? `an issuer ${issuer}` : `status ${answer.status}`;
    return wrong(`${who} answers at ${baseUrl}`, 'lead BASE_URL to this server, path by path');
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message || cause.name : message;
    const text = `nothing that is Assent answers at ${baseUrl} from here (${why})`;
    return advice(text, 'start the server, or check the proxy and the DNS');
  }
}
