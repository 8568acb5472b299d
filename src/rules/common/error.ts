import type { RuleId } from './remedies.ts';

/** The error codes of refused requests (contract 7.1 and 7.2), without `access_denied`, the user's answer. */
export type OAuthErrorCode = 'invalid_request' | 'invalid_scope' | 'unauthorized_client' | 'invalid_grant';

/** The reason on the page of a refused authorization request (`errors.reasons`), by its rule; `unreadable` for all others. */
const REASONS = {
  client_unregistered: 'unknown_application',
  client_blocked: 'unknown_application',
  client_or_user_blocked: 'no_longer_possible',
  redirect_uri_unregistered: 'wrong_return_address',
  redirect_uri_too_long: 'wrong_return_address',
  redirect_uri_appended: 'wrong_return_address',
  missing_parameter: 'missing_parameter',
  doubled_parameter: 'doubled_parameter',
  undecodable_parameter: 'undecodable_parameter',
  wrong_response_type: 'wrong_parameter',
  wrong_code_challenge: 'wrong_parameter',
  unclear_instance_name: 'wrong_parameter',
  instance_name_too_long: 'wrong_parameter',
  sent_in_two_places: 'sent_in_two_places',
  too_many_parameters: 'too_long',
  too_long: 'too_long',
  no_rights: 'no_rights',
  unreadable_rights: 'unreadable_rights',
  openid_scope: 'unreadable_rights',
  right_not_offered: 'right_not_offered',
  right_not_allowed: 'right_not_allowed',
  unclear_target: 'unclear_target',
  contradiction: 'contradiction',
  above_ceiling: 'above_ceiling',
  sign_in_lost: 'sign_in_lost',
  sign_in_no_cookies: 'sign_in_no_cookies',
  sign_in_unfinished: 'sign_in_unfinished',
  too_many_tries: 'sign_in_wait',
  sign_in_failed: 'sign_in_failed',
  sign_in_unconfirmed: 'sign_in_failed',
  sign_in_other_user: 'sign_in_other_user',
  sign_in_user_unknown: 'sign_in_refused',
  sign_in_user_unusable: 'sign_in_refused',
  user_blocked: 'sign_in_refused',
} as const satisfies Partial<Record<RuleId, string>>;

export type Reason = (typeof REASONS)[keyof typeof REASONS] | 'unreadable';

interface Details extends ErrorOptions {
  /** Omitted if the message names the exact rule. */
  readonly rule?: string | undefined;
  readonly parameter?: string | null;
  readonly clientName?: string;
  readonly clientSite?: string | null;
}

/**
 * A refused request (contract 7.1 and 7.2). `message` is for the JSON, and never quotes the request; `rule` is for the
 * operator's log, and names the exact broken rule; `ruleId` finds its remedy, and the `reason` on a user's page.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly ruleId: RuleId;
  readonly rule: string;
  readonly reason: Reason;
  /** Its name, one of ours; null if the reason concerns no single one. */
  readonly parameter: string | null;
  /** The request's application; null while unknown. */
  readonly clientName: string | null;
  /** Its website if the operator has reviewed it; null otherwise. */
  readonly clientSite: string | null;

  constructor(code: OAuthErrorCode, ruleId: RuleId, message: string, details: Details = {}) {
    super(message, details);
    this.code = code;
    this.ruleId = ruleId;
    this.rule = details.rule ?? message;
    this.reason = (REASONS as Partial<Record<RuleId, Reason>>)[ruleId] ?? 'unreadable';
    this.parameter = details.parameter ?? null;
    this.clientName = details.clientName ?? null;
    this.clientSite = details.clientSite ?? null;
  }

  ofClient(client: { name: string; site: string | null; reviewed: boolean }): OAuthError {
    const { code, ruleId, message, rule, parameter } = this;
    return new OAuthError(code, ruleId, message, {
      ...{ rule, parameter, cause: this },
      clientName: client.name,
      clientSite: client.reviewed ? client.site : null,
    });
  }
}

export const invalidRequest = (ruleId: RuleId, message: string, details?: Details): OAuthError =>
  new OAuthError('invalid_request', ruleId, message, details);

/** A refusal with `invalid_scope`. @param rule omitted if the message is complete */
export const invalidScope = (ruleId: RuleId, message: string, rule?: string): OAuthError =>
  new OAuthError('invalid_scope', ruleId, message, { rule, parameter: 'scope' });

/** Too many wait, or it is too late: the action is not carried out, not even later. docs/operate/503.md has the exceptions. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}
