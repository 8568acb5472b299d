import { type AuthorizationRequest, readAuthorizationRequest } from '../oauth/authorizationRequest.ts';
import type { Parameters } from '../oauth/parameters.ts';
import type { Context } from './context.ts';

/**
 * Checks an authorization request against what is registered now. Every step of the flow does it again, so
 * a client that is blocked or changed meanwhile counts at once. Writes nothing (contract 4.1).
 *
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope`
 */
export async function loadAuthorizationRequest(
  { findClient, catalogue }: Context,
  parameters: Parameters,
): Promise<AuthorizationRequest> {
  const client = await findClient(parameters.require('client_id'));
  return readAuthorizationRequest(parameters, client ?? undefined, catalogue);
}
