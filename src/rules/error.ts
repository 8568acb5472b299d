/**
 * The error codes for requests that are refused (contract 7.1 and 7.2). `access_denied` is not among them: it is the
 * user's answer, and no error of a request.
 */
export type OAuthErrorCode = 'invalid_request' | 'invalid_scope' | 'unauthorized_client' | 'invalid_grant';

/** Why an authorization request is refused, for the page that says it in the user's language (`errors.reasons`). */
export type Reason =
  | 'unknown_application'
  | 'no_longer_possible'
  | 'wrong_return_address'
  | 'missing_parameter'
  | 'doubled_parameter'
  | 'undecodable_parameter'
  | 'wrong_parameter'
  | 'sent_in_two_places'
  | 'too_long'
  | 'no_rights'
  | 'unreadable_rights'
  | 'right_not_offered'
  | 'right_not_allowed'
  | 'unclear_target'
  | 'contradiction'
  | 'above_ceiling'
  | 'unreadable';

/** What an error says beside its code and its message. */
interface Details extends ErrorOptions {
  /** Left out where the message names the exact rule. */
  readonly rule?: string | undefined;
  /** Left out where no page says it. */
  readonly reason?: Reason;
  /** The parameter that the reason is about. */
  readonly parameter?: string;
}

/**
 * A request that is refused (contract 7.1 and 7.2). `message` is for those who read the JSON, and never quotes the request;
 * `rule` is for the operator's log, and names the exact rule that was broken; `reason` is for the page that a user sees.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly rule: string;
  readonly reason: Reason;
  /** Its name, which is ours; null where the reason is about no single one. */
  readonly parameter: string | null;
  /** The application whose request it is; null while it is not known. */
  clientName: string | null = null;

  constructor(code: OAuthErrorCode, message: string, details: Details = {}) {
    super(message, details);
    this.code = code;
    this.rule = details.rule ?? message;
    this.reason = details.reason ?? 'unreadable';
    this.parameter = details.parameter ?? null;
  }
}

/** A refusal with `invalid_request`. */
export const invalidRequest = (message: string, details?: Details): OAuthError =>
  new OAuthError('invalid_request', message, details);

/** A refusal with `invalid_scope`. @param rule left out where the message says it all */
export const invalidScope = (reason: Reason, message: string, rule?: string): OAuthError =>
  new OAuthError('invalid_scope', message, { reason, rule, parameter: 'scope' });
