import type { Client } from './client.ts';
import { parseCodeChallenge } from './codeChallenge.ts';
import { invalidRequest, OAuthError } from './error.ts';
import { parseInstanceName } from './instanceName.ts';
import { MAX_CANONICAL_QUERY_BYTES } from './limits.ts';
import type { Parameters } from './parameters.ts';
import { redirectUriMismatch } from './redirectUri.ts';
import type { Right } from './scope.ts';
import { type OfferedRights, parseRequestedScope } from './scopeRules.ts';
import { byteLength } from './text.ts';

/** The parameters that an authorization request may have, in the order of the canonical query; others are ignored. */
export const AUTHORIZATION_PARAMETERS = [
  'client_id',
  'response_type',
  'redirect_uri',
  'scope',
  'instance_name',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

/** An authorization request that passed every check of contract 2.2. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  /** As requested, byte for byte. */
  readonly scope: string;
  readonly rights: readonly Right[];
  readonly instanceName: string | null;
  readonly state: string | null;
  readonly codeChallenge: string | null;
  /** The request as a query string, always in the same form: what our URL and our forms carry. */
  readonly canonicalQuery: string;
}

/**
 * The parameters of an authorization request by POST: in the body (contract 4.1), or in the URL when an SDK posts an empty
 * body; never in both.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function postedParameters(query: Parameters, body: Parameters): Parameters {
  if (!query.hasAny(AUTHORIZATION_PARAMETERS)) return body;
  if (body.hasAny(AUTHORIZATION_PARAMETERS)) {
    const message = 'The parameters were sent in the body and in the URL at once.';
    throw invalidRequest(message, { reason: 'sent_in_two_places' });
  }
  return query;
}

/** Contract 2.2, client_id: required, and first, since all other checks depend on the application. @throws {OAuthError} */
export function requestedClientId(parameters: Parameters): string {
  return parameters.require('client_id');
}

/**
 * Checks an authorization request, in this order: the application (contract 7.1), then its parameters (contract 2.2),
 * the address of the answer before all others.
 *
 * @param client what is registered under its `client_id`; null when nothing is
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope`, shown as a page (contract 4.1)
 */
export function parseAuthorizationRequest(
  parameters: Parameters,
  client: Client | null,
  offered: OfferedRights,
): AuthorizationRequest {
  const checkedClient = checkClient(client);
  const redirectUri = checkRedirectUri(parameters.require('redirect_uri'), checkedClient);
  checkResponseType(parameters.require('response_type'));
  const scope = parameters.get('scope', 'invalid_scope') ?? '';
  const rights = parseRequestedScope(scope, offered, checkedClient.allowedRights, checkedClient.most);
  const instanceName = parseInstanceName(parameters.get('instance_name'));
  const state = parameters.get('state') ?? null;
  const codeChallenge = parseCodeChallenge(parameters);
  const canonicalQuery = formatCanonicalQuery(parameters);
  return {
    client: checkedClient,
    redirectUri,
    scope,
    rights,
    instanceName,
    state,
    codeChallenge,
    canonicalQuery,
  };
}

/** Contract 7.1, unauthorized_client: the `client_id` is wrong or blocked. */
function checkClient(client: Client | null): Client {
  const message = 'The application is not registered here, or it may not ask for authorization.';
  if (client === null) {
    const rule = 'client_id is not registered';
    throw new OAuthError('unauthorized_client', message, { reason: 'unknown_application', rule });
  }
  if (client.status !== 'active') {
    const rule = 'the client is blocked';
    throw new OAuthError('unauthorized_client', message, { reason: 'unknown_application', rule });
  }
  return client;
}

/** Contract 2.2, redirect_uri: identical, character by character, to the registered one, but for parameters appended to it. */
function checkRedirectUri(sent: string, client: Client): string {
  const rule = redirectUriMismatch(client.redirectUri, sent);
  if (rule === null) return sent;
  const message = 'The parameter redirect_uri is not the registered one.';
  throw invalidRequest(message, { reason: 'wrong_return_address', parameter: 'redirect_uri', rule });
}

/** Contract 2.2, response_type: the fixed value `code`. */
function checkResponseType(value: string): void {
  if (value === 'code') return;
  const details = { reason: 'wrong_parameter', parameter: 'response_type' } as const;
  throw invalidRequest('The parameter response_type must be code.', details);
}

/**
 * The known parameters in one order, empty ones left out, spaces as `%20`. A client secret that was sent here by mistake
 * is left out, too.
 */
function formatCanonicalQuery(parameters: Parameters): string {
  const query = AUTHORIZATION_PARAMETERS.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  }).join('&');
  if (byteLength(query) > MAX_CANONICAL_QUERY_BYTES) {
    const message = `The request is longer than ${MAX_CANONICAL_QUERY_BYTES} bytes.`;
    throw invalidRequest(message, { reason: 'too_long' });
  }
  return query;
}
