import { isLoopback } from '../rules/common/network.ts';
import { type Environment, sourceOf } from './environment.ts';
import { DEFAULT_PORT, VARIABLES } from './variables.ts';

// Checks across variables. Each problem is a sentence.

/** Prefix of the public secret in docker-compose.yml. */
const PUBLIC_SECRET = 'for-trying-out-only';
const NAMES = Object.keys(VARIABLES);

/** The variables that are useless without another one. */
const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  SIGN_IN_ISSUER: NAMES.filter((name) => /^SIGN_IN_(?!ISSUER)/.test(name)),
  ADMIN_SIGN_IN_ISSUER: NAMES.filter((name) => /^ADMIN_SIGN_IN_(?!ISSUER)/.test(name)),
  ADMIN_ROLES: ['ADMIN_SIGN_IN_ISSUER'],
  ADMIN_PORT: ['OPERATORS_FILE', 'ADMIN_ROLES'],
};

const NO_TRIAL =
  'DATABASE_URL is required: trial mode, which runs without it, is only for this machine (BASE_URL, HOST and ADMIN_HOST), and not for NODE_ENV=production.';
const NO_DEFAULT_LIMIT =
  'DEFAULT_LIMIT is required when CURRENCY is not RUB: days and sum of a right without a limit, such as 1,30.';
const PORTS = ['PORT', 'METRICS_PORT', 'ADMIN_PORT'];

/** Checks across variables: an operator's database needs an explicit address and a private secret. */
export function combinedProblems(environment: Environment): string[] {
  const isSet = (name: string) => sourceOf(name, environment) !== 'default';
  const missing = (owner: string, ...needed: string[]) =>
    needed.filter((name) => !isSet(name)).map((name) => `${name} is required when ${owner} is set.`);
  const problems = limitProblems(environment);
  const ports = [environment.PORT ?? DEFAULT_PORT, environment.METRICS_PORT, environment.ADMIN_PORT];
  for (const [at, port] of ports.entries())
    if (port && ports.indexOf(port) < at)
      problems.push(`${PORTS[at]} must differ from ${PORTS[ports.indexOf(port)]}.`);
  for (const [owner, names] of Object.entries(NEEDED_BY)) {
    if (!isSet(owner)) problems.push(...names.filter(isSet).map((name) => `${name} needs ${owner}.`));
    else if (owner.endsWith('_ISSUER'))
      problems.push(...missing(owner, ...names.filter((name) => /_CLIENT_/.test(name))));
  }
  if (environment.ADMIN_ROLES && !environment.SIGN_IN_ISSUER && !environment.ADMIN_SIGN_IN_ISSUER)
    problems.push('ADMIN_ROLES needs ADMIN_SIGN_IN_ISSUER or SIGN_IN_ISSUER.');
  problems.push(...trialProblems(environment));
  if (!environment.DATABASE_URL) return problems;
  problems.push(...missing('DATABASE_URL', 'BASE_URL', 'SECRETS'));
  if (environment.SECRETS?.includes(PUBLIC_SECRET) && isElsewhere(environment.BASE_URL))
    problems.push('SECRETS must be your own when BASE_URL is not localhost: run openssl rand -hex 32.');
  return problems;
}

/** 3,000 of another currency may be much. */
export const limitProblems = ({ CURRENCY = 'RUB', DEFAULT_LIMIT }: Environment) =>
  CURRENCY === 'RUB' || DEFAULT_LIMIT ? [] : [NO_DEFAULT_LIMIT];

/** A forgotten `DATABASE_URL` must not start trial mode, whose data are temporary. */
export function trialProblems(environment: Environment): string[] {
  const { NODE_ENV, BASE_URL, HOST, ADMIN_HOST } = environment;
  const isOpen = isElsewhere(BASE_URL) || [HOST, ADMIN_HOST].some((host) => host && !isLoopback(host));
  const isTrial = !isOpen && NODE_ENV !== 'production';
  return isTrial || sourceOf('DATABASE_URL', environment) !== 'default' ? [] : [NO_TRIAL];
}

/** False for an invalid URL, which has its own error. */
function isElsewhere(url = ''): boolean {
  return URL.canParse(url) && !isLoopback(new URL(url).hostname);
}
