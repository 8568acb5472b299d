import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type pg from 'pg';
import {
  type Config,
  describeVariables,
  readConfig,
  readDatabaseConfig,
  settingsOf,
} from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import { fetchBounded, methodOf, openProvider, type ProviderSettings } from '../flows/common/provider.ts';
import { advice, checkDatabase, checkInvariants, findingsOf, ok, wrong } from '../operations/doctor.ts';
import { openServerStore } from '../process/openStore.ts';
import { isLoopback } from '../rules/common/network.ts';
import { explainTrouble } from '../store/database/errors.ts';
import type { Finding } from '../store/schema/invariants.ts';
import { differing, findSettings } from '../store/schema/settings.ts';
import type { Options } from './commands.ts';
import { fieldLines, type Shell } from './shell.ts';

const ADDRESS_TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;
/** With fewer days left, a certificate should have been renewed. */
const RENEWED_DAYS = 21;
const UNCHECKED = 'not checked: certificate, /metrics, /health/ready, proxy';
/** From a network for documentation: no caller has it. */
const FORGED = { 'x-forwarded-for': '203.0.113.113' };
const CORRECT = 'correct the configuration first';

export async function runDoctor(shell: Shell, { invariants = false, patience }: Options): Promise<void> {
  if (invariants) readDatabaseConfig(shell.streams.env); // a wrong variable is no finding here but an error
  const findings = invariants
    ? await checkStore(shell, (pool) => checkInvariants(pool, patience))
    : await checkAll(shell);
  const lines = findings.map(({ level, text, remedy }) => {
    return `${level.padEnd(6)}  ${text}${remedy === null ? '' : `: ${remedy}`}`;
  });
  shell.print(findings, lines.join('\n'));
  if (findings.some(({ level }) => level === 'error')) shell.exitCode = 1;
}

export async function showConfig(shell: Shell): Promise<void> {
  for (const warning of readConfig(shell.streams.env).warnings) shell.warn(warning);
  const variables = describeVariables(shell.streams.env);
  const lines = variables.map(({ variable, value, origin }) => [variable, `${value ?? '-'} (${origin})`]);
  shell.print({ variables }, fieldLines(Object.fromEntries(lines)));
}

async function checkAll(shell: Shell): Promise<Finding[]> {
  const { config, problems } = readOrExplain(shell);
  const judge = config === null ? wrong : advice;
  const verdicts = problems.map((problem) => {
    const [text = '', place = 'docs/operate/configuration.md#environment'] = problem
      .replace(/\.$/, '')
      .split('; see ');
    return judge(text, `see ${place}`);
  });
  if (config !== null) verdicts.unshift(ok('the configuration is complete'));
  else verdicts.push(wrong('not checked: address, provider', CORRECT));
  // First, because servers then note refusals in the database.
  const { findings = [], references = [] } = config ? await examineAddress(config) : {};
  return [
    ...findingsOf('configuration', verdicts),
    ...(await checkStore(shell, async (pool) => {
      const ofDatabase = await checkDatabase(pool, references, config?.operators);
      return config === null ? ofDatabase : [...ofDatabase, ...(await examineSettings(pool, config))];
    })),
    ...findings,
    ...(await Promise.all(providersOf(config).map(examineProvider))).flat(),
  ];
}

/** Reads the environment. @returns its problems, one sentence each; config null if it can't serve */
function readOrExplain(shell: Shell) {
  try {
    const config = readConfig(shell.streams.env);
    return { config, problems: config.warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: null, problems: error.message.split('\n') };
  }
}

async function checkStore(shell: Shell, look: (pool: pg.Pool) => Promise<Finding[]>): Promise<Finding[]> {
  try {
    const { pool, close } = await openServerStore(readDatabaseConfig(shell.streams.env), shell.log);
    return await look(pool).finally(close);
  } catch (error) {
    const isUnset = error instanceof ConfigError;
    const why = isUnset ? 'not checked: database' : explainTrouble(error);
    return findingsOf('database', [wrong(why, isUnset ? CORRECT : 'see docs/operate/database.md')]);
  }
}

/** Finds settings that only the servers have otherwise, unless another check says that the table can't be read. */
async function examineSettings(pool: pg.Pool, config: Config): Promise<Finding[]> {
  const others = differing(settingsOf(config), await findSettings(pool).catch(() => ({})));
  const remedy = 'give this command the servers’ values, or restart all servers with these';
  const verdicts = others.map((variable) =>
    wrong(`${variable} is not as the servers of this database have it`, remedy),
  );
  return findingsOf('settings', verdicts);
}

/** @returns also the references of a refused request, and of one with a forged address */
async function examineAddress({ baseUrl, trustProxy }: Config) {
  const { protocol, hostname } = new URL(baseUrl);
  const isHttps = protocol === 'https:';
  const plainHttp = isLoopback(hostname)
    ? ok(`BASE_URL ${baseUrl} is on this machine`)
    : wrong(`BASE_URL ${baseUrl} is plain http`, 'put a proxy with TLS in front, and use its address');
  const noPrefix = 'cookies have no prefix __Host-, so other hosts could set them';
  const cookies = isHttps
    ? ok('cookies are Secure and have the prefix __Host-')
    : advice(noPrefix, 'use https outside a trial');
  const address = await checkReachable(baseUrl);
  const findings: Finding[] = [
    { check: 'https', ...(isHttps ? ok(`BASE_URL ${baseUrl} is https`) : plainHttp) },
    { check: 'cookies', ...cookies },
    { check: 'address', ...address },
  ];
  if (address.level !== 'ok') return { findings };
  if (isHttps) findings.push({ check: 'certificate', ...(await checkCertificate(baseUrl)) });
  // Without TLS and a proxy, BASE_URL is the address of a trial.
  if (isHttps || trustProxy !== false)
    findings.push(
      { check: 'metrics', ...(await checkPrivate(`${baseUrl}/metrics`, wrong)) },
      { check: 'readiness', ...(await checkPrivate(`${baseUrl}/health/ready`, advice)) },
    );
  const asked = [{}, trustProxy === false ? {} : FORGED].map((headers) =>
    ask(`${baseUrl}/oauth/authorize`, headers).catch(() => null),
  );
  const references = (await Promise.all(asked)).map((answer) => answer?.headers.get('x-request-id') ?? '');
  return { findings, references };
}

const ask = (url: string, headers = {}) =>
  fetch(url, { headers, signal: AbortSignal.timeout(ADDRESS_TIMEOUT_MS), redirect: 'error' });

async function checkPrivate(url: string, judge: typeof wrong) {
  const answer = await ask(url).catch(() => null);
  const isOpen = /^(# HELP|{"status":)/.test((await answer?.text()) ?? '');
  if (!isOpen) return ok(`${url} is not public`);
  return judge(`${url} answers to strangers`, 'let the proxy refuse it, see docs/operate/proxy.md#duties');
}

async function checkCertificate(baseUrl: string) {
  const { hostname, port } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  // A server is not asked for an address by name (RFC 6066 section 3).
  const servername = isIP(host) === 0 ? host : '';
  const socket = connect({ host, port: Number(port || 443), servername });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(ADDRESS_TIMEOUT_MS) });
    const end = Date.parse(socket.getPeerCertificate().valid_to);
    const days = Math.floor((end - Date.now()) / DAY_MS);
    const text = `the certificate of BASE_URL ends in ${days} days`;
    return days < RENEWED_DAYS ? advice(text, 'repair its renewal') : ok(text);
  } catch (error) {
    return advice(`not checked: certificate (${(error as Error).message})`, 'run doctor again');
  } finally {
    socket.destroy();
  }
}

/** Checks that Assent answers at `BASE_URL`: a proxy may route it elsewhere. */
async function checkReachable(baseUrl: string) {
  try {
    const answer = await ask(`${baseUrl}/.well-known/oauth-authorization-server`);
    const { issuer } = (await answer.json()) as { issuer?: unknown };
    if (issuer === baseUrl) return ok(`Assent answers at ${baseUrl}`);
    const who = typeof issuer === 'string' ? `an issuer ${issuer}` : `status ${answer.status}`;
    return wrong(`${who} answers at ${baseUrl}; ${UNCHECKED}`, 'route all paths of BASE_URL to this server');
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message || cause.name : message;
    const text = `no Assent server answers at ${baseUrl} from here (${why}); ${UNCHECKED}`;
    const judge = why.includes('certificate') ? wrong : advice; // browsers refuse it, too
    return judge(text, 'start the server, or check the proxy, its certificate and the DNS');
  }
}

/** Of users and of operators, each once. */
function providersOf(config: Config | null): ProviderSettings[] {
  const named = [config?.provider, config?.operatorSignIn?.provider].filter((one) => one != null);
  return [...new Map(named.map((one) => [one.issuer, one])).values()];
}

/** Checks that users can sign in at the provider, as far as its public metadata tell. */
async function examineProvider(settings: ProviderSettings): Promise<Finding[]> {
  const judge = (check: string, isWell: boolean, text: string, remedy: string): Finding => {
    return { check, ...(isWell ? ok(text) : wrong(text, remedy)) };
  };
  try {
    const metadata = (await openProvider(settings).client()).configuration.serverMetadata();
    const { id_token_signing_alg_values_supported: signedBy = ['RS256'], jwks_uri: at = '' } = metadata;
    const canCheck = signedBy.some((algorithm) => /^([PRE]S(256|384|512)|Ed25519|EdDSA)$/.test(algorithm));
    const asked = fetchBounded(at, { signal: AbortSignal.timeout(ADDRESS_TIMEOUT_MS) });
    const read = await asked
      .then((answer) => answer.json() as Promise<{ keys?: unknown[] }>)
      .catch(() => null);
    const keys = read?.keys?.length ?? 0;
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata;
    return [
      judge('provider', true, `the provider answers at ${settings.issuer}, and has this issuer`, ''),
      judge('signature', canCheck, `the provider signs with ${signedBy}`, 'configure RS256 or ES256 there'),
      judge('credentials', !!methodOf(metadata), `the provider allows ${methods}`, 'add client_secret_basic'),
      judge('keys', keys > 0, `${keys} keys of the provider found at ${at}`, 'make its jwks_uri reachable'),
    ];
  } catch (error) {
    const remedy = `allow connections to it, and compare ${settings.issuer} with the issuer in its metadata exactly`;
    return [judge('provider', false, (error as Error).message, remedy)];
  }
}
