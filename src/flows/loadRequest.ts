import {
  type AuthorizationRequest,
  parseAuthorizationRequest,
  requestedClientId,
} from '../rules/authorizationRequest.ts';
import type { Parameters } from '../rules/parameters.ts';
import { findClient } from '../store/clients.ts';
import type { Context } from './context.ts';

/**
 * Checks an authorization request against what is registered now. Every step of the flow does it again, so
 * a client that is blocked or changed meanwhile counts at once. Writes nothing (contract 4.1).
 *
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope`
 */
export async function loadAuthorizationRequest(
  { db, catalogue }: Context,
  parameters: Parameters,
): Promise<AuthorizationRequest> {
  const client = await findClient(db, requestedClientId(parameters));
  return parseAuthorizationRequest(parameters, client ?? undefined, catalogue);
}
