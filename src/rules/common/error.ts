import { recordOf } from './recordOf.ts';
import { type OAuthErrorCode, type OAuthRuleId, RULES } from './refusals.ts';

type Details = ErrorOptions &
  Partial<Pick<OAuthError, 'code' | 'rule' | 'statusCode' | 'parameter' | 'clientId'>>;

/**
 * A refused request (contract 7.1 and 7.2). `message` is for the JSON, and never quotes the request; `rule` is for the
 * operator's log, and names the exact broken rule; `ruleId` finds its remedy, and the reason on a user's page.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** Of its rule; the check gives it if the rule has two. */
  readonly code: OAuthErrorCode;
  readonly ruleId: OAuthRuleId;
  /** The message, if that names the exact rule. */
  readonly rule: string;
  /** By default 400: programs read its body, while several lose that of a 401. */
  readonly statusCode: number;
  /** Its name, one of ours; null if the rule concerns no single one. By default `scope` for `invalid_scope`. */
  readonly parameter: string | null;
  /** The request's application, for the log; null while unknown. */
  clientId: string | null;
  /** Its name, for the page; null also for a blocked one. */
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
    this.clientId = details.clientId ?? null;
    this.statusCode = details.statusCode ?? 400;
    this.parameter = details.parameter ?? (this.code === 'invalid_scope' ? 'scope' : null);
  }

  /** Notes the request's application once it is known. A blocked one's page reveals no more than an unknown one's. */
  ofClient(
    client: Record<'clientId' | 'name' | 'status', string> & { site: string | null; reviewed: boolean },
  ) {
    this.clientId = client.clientId;
    if (client.status !== 'active') return this;
    this.clientName = client.name;
    this.clientSite = client.reviewed ? client.site : null;
    return this;
  }
}

/** Why a request of an operator is refused, and the HTTP status that says so. */
export const STATUS_BY_REASON = {
  ...recordOf(['usage', 'unreadable_request', 'unknown_after'], 400),
  ...recordOf(['no_operator', 'invalid_token'], 401),
  not_permitted: 403,
  ...recordOf(['not_found', 'no_address'], 404),
  wrong_method: 405,
  ...recordOf(['state', 'not_confirmed'], 409), // `state`: in order, but not as things stand
  ...recordOf(['unknown_field', 'invalid_field', 'refused_value'], 422),
  too_many_failures: 429,
} as const;

/** A refused request of an operator. The message has the fix, and names fields as `force`. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly reason: keyof typeof STATUS_BY_REASON;
  /** The field at fault, by its name in JSON; undefined if there is no single one. */
  readonly field: string | undefined;

  constructor(reason: keyof typeof STATUS_BY_REASON, message: string, field?: string) {
    super(message);
    this.reason = reason;
    this.field = field;
  }
}

/** Too many wait, or it is too late: the action is not carried out, not even later. docs/operate/503.md has the exceptions. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}
