import { OAuthError } from '../common/error.ts';
import { MAX_CANONICAL_QUERY_BYTES, MAX_INSTANCE_NAME_BYTES } from '../common/limits.ts';
import { findUnclearCharacter } from '../common/text.ts';
import type { Right } from '../scope/scope.ts';
import type { Client } from './client.ts';
import { parseCodeChallenge } from './codeChallenge.ts';
import type { Parameters } from './parameters.ts';
import { countStates, redirectUriMismatch, withLoopbackPortOf } from './redirectUri.ts';
import { type Offer, parseRequestedScope } from './scopeRules.ts';

const CHECKED: readonly string[] = [
  ...['client_id', 'response_type', 'redirect_uri', 'scope', 'instance_name', 'state'],
  ...['code_challenge', 'code_challenge_method'],
];
/** In the order of the canonical query; other parameters are ignored. */
export const AUTHORIZATION_PARAMETERS: readonly string[] = [...CHECKED, 'ui_locales'];

/** Enough for all languages that one person reads. */
const MAX_LOCALES = 100;

/** An authorization request that passed every check of contract 2.2. */
export interface AuthorizationRequest {
  readonly client: Client;
  /** The registered one, perhaps with appended parameters. */
  readonly redirectUri: string;
  /** What it grants: `askedScope`, completed by `parseRequestedScope`. */
  readonly scope: string;
  /** As sent, byte for byte. */
  readonly askedScope: string;
  /** Those of `scope`, at least one. */
  readonly rights: readonly Right[];
  /** Null, itself an instance, without one. */
  readonly instanceName: string | null;
  /** Returned byte for byte (RFC 6749 section 4.1.2); null for none. */
  readonly state: string | null;
  /** base64url of a SHA-256 (RFC 7636 section 4.2, S256); null without PKCE. */
  readonly codeChallenge: string | null;
  /** The known parameters in a fixed order, for our URLs and forms. */
  readonly canonicalQuery: string;
}

/** In the body (contract 4.1), or in the URL if an SDK posts an empty body. @throws {OAuthError} if in both */
export function postedParameters(query: Parameters, body: Parameters): Parameters {
  if (!query.hasAny(CHECKED)) return body;
  if (body.hasAny(CHECKED))
    throw new OAuthError('sent_in_two_places', 'Parameters were sent both in the body and in the URL.');
  return query;
}

/**
 * Checks the application (contract 7.1), then the parameters (contract 2.2), the redirect URI first.
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope`, shown as a page (contract 4.1)
 */
export function parseAuthorizationRequest(
  parameters: Parameters,
  registered: Client | null,
  offer: Offer,
): AuthorizationRequest {
  const client = checkClient(registered);
  const redirectUri = checkRedirectUri(parameters.require('redirect_uri'), client);
  parameters.requireValue('response_type', 'code', 'wrong_response_type');
  const askedScope = parameters.get('scope', 'invalid_scope') ?? '';
  const { rights, scope } = parseRequestedScope(askedScope, offer, client);
  const instanceName = parseInstanceName(parameters.get('instance_name'));
  const state = parameters.get('state') ?? null;
  if (countStates(redirectUri) + (state === null ? 0 : 1) > 1)
    throw new OAuthError(
      'doubled_parameter',
      'redirect_uri has a state, so the request must have no other.',
      {
        parameter: 'state',
      },
    );
  const codeChallenge = parseCodeChallenge(parameters);
  if (client.oauth21 && codeChallenge === null)
    throw new OAuthError('needs_pkce', 'The parameter code_challenge is missing.', {
      parameter: 'code_challenge',
    });
  const checked = { client, redirectUri, scope, askedScope, rights, instanceName, state, codeChallenge };
  return { canonicalQuery: formatCanonicalQuery(parameters), ...checked };
}

/** Contract 7.1, unauthorized_client: the `client_id` is wrong or blocked. */
function checkClient(client: Client | null): Client {
  if (client?.status === 'active') return client;
  const message = 'The application is not registered here, or it may not request authorization.';
  const ruleId = client === null ? 'client_unregistered' : 'client_blocked';
  const rule = client === null ? 'client_id is not registered' : 'the client is blocked';
  throw new OAuthError(ruleId, message, rule);
}

/** Contract 2.2, redirect_uri: identical, character by character, to the registered one, except for appended parameters. */
function checkRedirectUri(sent: string, client: Client): string {
  const { redirectUri, oauth21 } = client;
  const mismatch = redirectUriMismatch(redirectUri, oauth21 ? withLoopbackPortOf(redirectUri, sent) : sent);
  if (mismatch === null) return sent;
  const [ruleId, rule] = mismatch;
  const message = 'The parameter redirect_uri is not the registered one.';
  throw new OAuthError(ruleId, message, { parameter: 'redirect_uri', rule });
}

/** Contract 2.2, instance_name; null, itself an instance, without one. @throws {OAuthError} `invalid_request` */
export function parseInstanceName(value: string | undefined): string | null {
  if (value === undefined) return null;
  const parameter = 'instance_name';
  if (Buffer.byteLength(value) > MAX_INSTANCE_NAME_BYTES) {
    const message = `The parameter instance_name is longer than ${MAX_INSTANCE_NAME_BYTES} bytes.`;
    throw new OAuthError('instance_name_too_long', message, { parameter });
  }
  const unclear = findUnclearCharacter(value);
  if (unclear === undefined) return value;
  const message =
    'The parameter instance_name has invisible characters, or spaces other than single ones between words.';
  throw new OAuthError('unclear_instance_name', message, { parameter, rule: `instance_name: ${unclear}` });
}

/** The query in the canonical form of our URL and forms: known parameters in order, no empty ones, no secret; spaces as `%20`. */
function formatCanonicalQuery(parameters: Parameters): string {
  const field = (name: string, value = '') => (value === '' ? [] : [`${name}=${encodeURIComponent(value)}`]);
  const query = CHECKED.flatMap((name) => field(name, parameters.get(name))).join('&');
  const locales = parameters.find('ui_locales') ?? '';
  const wish = locales.length > MAX_LOCALES ? [] : field('ui_locales', locales);
  if (Buffer.byteLength(query) <= MAX_CANONICAL_QUERY_BYTES) return [query, ...wish].join('&');
  throw new OAuthError('too_long', `The request is longer than ${MAX_CANONICAL_QUERY_BYTES} bytes.`);
}
