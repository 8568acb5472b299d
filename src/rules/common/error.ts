import type { RuleId } from './remedies.ts';

/** The error codes of refused requests (contract 7.1 and 7.2), without `access_denied`, the user's answer. */
export type OAuthErrorCode = 'invalid_request' | 'invalid_scope' | 'unauthorized_client' | 'invalid_grant';

interface Details extends ErrorOptions {
  /** Omitted if the message names the exact rule. */
  readonly rule?: string | undefined;
  readonly parameter?: string;
}

/**
 * A refused request (contract 7.1 and 7.2). `message` is for the JSON, and never quotes the request; `rule` is for the
 * operator's log, and names the exact broken rule; `ruleId` finds its remedy, and the reason on a user's page.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly ruleId: RuleId;
  readonly rule: string;
  /** Its name, one of ours; null if the rule concerns no single one. */
  readonly parameter: string | null;
  /** The request's application; null while unknown. */
  clientName: string | null = null;
  /** Its website if the operator has reviewed it; null otherwise. */
  clientSite: string | null = null;

  constructor(code: OAuthErrorCode, ruleId: RuleId, message: string, details: Details = {}) {
    super(message, details);
    this.code = code;
    this.ruleId = ruleId;
    this.rule = details.rule ?? message;
    this.parameter = details.parameter ?? null;
  }

  /** Notes the request's application, once it is known. */
  ofClient({ name, site, reviewed }: { name: string; site: string | null; reviewed: boolean }): this {
    this.clientName = name;
    this.clientSite = reviewed ? site : null;
    return this;
  }
}

export const invalidRequest = (ruleId: RuleId, message: string, details?: Details): OAuthError =>
  new OAuthError('invalid_request', ruleId, message, details);

/** A refusal with `invalid_scope`. @param rule omitted if the message is complete */
export const invalidScope = (ruleId: RuleId, message: string, rule?: string): OAuthError =>
  new OAuthError('invalid_scope', ruleId, message, { rule, parameter: 'scope' });

/** Why a request of an operator is refused, and the HTTP status that says so. */
export const REFUSALS = {
  usage: 400,
  unreadable_request: 400,
  unknown_after: 400,
  no_operator: 401,
  not_permitted: 403,
  not_found: 404,
  no_address: 404,
  wrong_method: 405,
  /** In order, but not as things stand. */
  state: 409,
  not_confirmed: 409,
  unknown_field: 422,
  invalid_field: 422,
  refused_value: 422,
  too_many_failures: 429,
} as const;

/** A refused request of an operator. The message has the fix, and names fields as `force`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: keyof typeof REFUSALS;
  /** The field at fault, by its name in JSON; undefined if there is no single one. */
  readonly field: string | undefined;

  constructor(reason: keyof typeof REFUSALS, message: string, field?: string) {
    super(message);
    this.reason = reason;
    this.field = field;
  }
}

/** Too many wait, or it is too late: the action is not carried out, not even later. docs/operate/503.md has the exceptions. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}
