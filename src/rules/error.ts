/**
 * The error codes for requests that are refused (contract 7.1 and 7.2). `access_denied` is not among them: it is the
 * user's answer, and no error of a request.
 */
export type OAuthErrorCode = 'invalid_request' | 'invalid_scope' | 'unauthorized_client' | 'invalid_grant';

/**
 * A request that is refused (contract 7.1 and 7.2). `message` is for the person who reads the page or the JSON, and never
 * quotes the request; `rule` is for the operator's log, and names the exact rule that was broken.
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

/** A refusal with `invalid_request`. @param rule left out where the message says it all */
export const invalidRequest = (message: string, rule?: string): OAuthError =>
  new OAuthError('invalid_request', message, rule);

/** A refusal with `invalid_scope`. @param rule as above */
export const invalidScope = (message: string, rule?: string): OAuthError =>
  new OAuthError('invalid_scope', message, rule);
