import { type Kind, ledger } from './ledger.ts';

// Notes the secrets in what goes between the tests and a server, wherever a test got them from.

const KIND_OF_FIELD = new Map<string, Kind>([
  ['client_secret', 'client secret'],
  ['code', 'code'],
  ['code_verifier', 'code verifier'],
  ['decision_token', 'form token'],
  ['form_token', 'form token'],
  ['password', 'password'],
  ['payment_password', 'payment password'],
  ['token', 'access token'],
]);

/** Tests also type words, such as "never issued", and words are in logs. */
const MIN_TYPED = 16;
/** The longest password; longer values are sent for their length. */
const MAX_TYPED = 1_000;
/** Only passwords have other characters: an address typed as a code is no secret. */
const LOOKS_MADE = /^[\w.~-]+$/;

/** @param headers with names in lower case */
export function noteRequest(body: unknown, { authorization, cookie = '' }: Record<string, string>): void {
  if (typeof body === 'string') {
    for (const [name, value] of new URLSearchParams(body)) noteTyped(name, value);
  }
  for (const pair of cookie.split('; ')) noteCookie(pair);
  if (authorization !== undefined) noteAuthorization(authorization);
}

export function noteAnswer({ headers }: Pick<Response, 'headers'>, body: string): void {
  for (const line of headers.getSetCookie()) noteCookie(line);
  const location = headers.get('location') ?? '';
  if (URL.canParse(location)) ledger.note('code', new URL(location).searchParams.get('code'));
  ledger.note('access token', /"access_token":"([^"]+)"/.exec(body)?.[1]);
}

/** A cookie of ours, as `name=value` with or without what `Set-Cookie` adds. */
export function noteCookie(line: string): void {
  const [, name = '', value] = /^(?:__Host-)?assent_(session|visit|sign_in\w*)=([^;]+)/.exec(line) ?? [];
  if (name === 'session' || name === 'visit') ledger.note(`${name} cookie`, value);
  else if (name !== '') ledger.note('sign-in secret', value);
}

export function noteVariables(variables: Record<string, string>): void {
  const { SECRETS = '', DATABASE_URL = '', PGPASSWORD, METRICS_TOKEN } = variables;
  for (const secret of SECRETS.split(',')) ledger.note('signing secret', secret.trim());
  ledger.note('database password', PGPASSWORD);
  ledger.note('metrics token', METRICS_TOKEN);
  if (URL.canParse(DATABASE_URL)) {
    ledger.note('database password', decodeURIComponent(new URL(DATABASE_URL).password));
  }
}

export function noteShown(stdout: string): void {
  for (const [, whose, secret] of stdout.matchAll(/(client|resource)_secret\W+([0-9a-f]{64})/g)) {
    ledger.note(`${whose as 'client' | 'resource'} secret`, secret);
  }
  ledger.note('operator token', /operator_token\W+(assent_op_[\w-]{43})/.exec(stdout)?.[1]);
}

export function noteTyped(name: string, value = ''): void {
  const kind = KIND_OF_FIELD.get(name);
  if (kind === undefined || value.length < MIN_TYPED || value.length > MAX_TYPED) return;
  if (name.endsWith('password') || LOOKS_MADE.test(value)) ledger.note(kind, value);
}

function noteAuthorization(header: string): void {
  const [, scheme, value = ''] = /^(Basic|Bearer) +(\S+)/i.exec(header) ?? [];
  if (scheme?.toLowerCase() === 'bearer') noteTyped('token', value);
  if (scheme?.toLowerCase() === 'basic') {
    noteTyped('client_secret', Buffer.from(value, 'base64').toString().split(':')[1]);
  }
}
