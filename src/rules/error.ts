/**
 * The error codes of the contract for requests that we refuse (sections 7.1 and 7.2). `access_denied` is not
 * among them: it is the user's answer, see `flows/deny.ts`.
 */
export type OAuthErrorCode = 'invalid_request' | 'invalid_scope' | 'unauthorized_client' | 'invalid_grant';

/**
 * A request that the contract refuses (sections 7.1 and 7.2).
 *
 * It carries two texts: `message` is for the person who sees the page or reads the JSON and never quotes
 * what an attacker sent; `rule` is for the operator's log and names the exact rule that was broken.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly rule: string;

  constructor(code: OAuthErrorCode, message: string, rule: string = message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.rule = rule;
  }
}
