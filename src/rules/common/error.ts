import { each } from './each.ts';
import { type OAuthErrorCode, type OAuthRuleId, RULES } from './refusals.ts';

interface Details extends ErrorOptions {
  /** Given only by checks of a rule with two codes. */
  readonly code?: OAuthErrorCode;
  /** Omitted if the message names the exact rule. */
  readonly rule?: string | undefined;
  /** By default `scope` for `invalid_scope`. */
  readonly parameter?: string;
}

/**
 * A refused request (contract 7.1 and 7.2). `message` is for the JSON, and never quotes the request; `rule` is for the
 * operator's log, and names the exact broken rule; `ruleId` finds its remedy, and the reason on a user's page.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly ruleId: OAuthRuleId;
  readonly rule: string;
  /** Its name, one of ours; null if the rule concerns no single one. */
  readonly parameter: string | null;
  /** The request's application; null while unknown. */
  clientName: string | null = null;
  /** Its website if the operator has reviewed it; null otherwise. */
  clientSite: string | null = null;

  /** @param message for the application @param more the exact rule for the log, or several details */
  constructor(ruleId: OAuthRuleId, message: string, more: string | Details = {}) {
    const details = typeof more === 'string' ? { rule: more } : more;
    super(message, details);
    this.code = details.code ?? RULES[ruleId].code;
    this.ruleId = ruleId;
    this.rule = details.rule ?? message;
    this.parameter = details.parameter ?? (this.code === 'invalid_scope' ? 'scope' : null);
  }

  /** Notes the request's application once it is known: an error page names it. */
  ofClient({ name, site, reviewed }: { name: string; site: string | null; reviewed: boolean }): this {
    this.clientName = name;
    this.clientSite = reviewed ? site : null;
    return this;
  }
}

/** Why a request of an operator is refused, and the HTTP status that says so. */
export const REFUSALS = {
  ...each(400, 'usage', 'unreadable_request', 'unknown_after'),
  no_operator: 401,
  not_permitted: 403,
  ...each(404, 'not_found', 'no_address'),
  wrong_method: 405,
  ...each(409, 'state', 'not_confirmed'), // `state`: in order, but not as things stand
  ...each(422, 'unknown_field', 'invalid_field', 'refused_value'),
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
