import { recordOf } from './recordOf.ts';

/** The error codes of refused requests (contract 7.1 and 7.2), without `access_denied`, the user's answer. */
export type OAuthErrorCode = 'invalid_request' | 'invalid_scope' | 'unauthorized_client' | 'invalid_grant';

const TOO_LONG =
  'The application sends too much, often in state or scope: see docs/integrate/errors.md#limits-of-a-request.';
const MALFORMED =
  'The application sends an invalid request; the rule names the part. docs/integrate/guide.md has valid requests.';
const UNREADABLE = 'The request is not valid HTTP: check the program that sent it and the proxy in between.';
const CLIENT_SECRET =
  'Run `assent client show ID`. If there is no such client, the client_id is wrong. If it is blocked, run `assent client unblock ID`. Otherwise the secret is wrong: see `assent client secret list ID`, and run `assent client secret add ID` for a new one.';
const NO_OPENID =
  'Assent isn’t an OpenID provider. Remove openid, profile and email from scope, use OAuth 2.0 with /.well-known/oauth-authorization-server, and read the user of a token by introspection.';
const LOST_PKCE =
  'The application must send code_challenge to /oauth/authorize and the PKCE verifier to /oauth/token, or neither. The rule says which is missing: often a restart or a lost session dropped the verifier. The code stays usable.';
const BAD_LINK = 'The link is wrong: check BASE_URL and the paths that the proxy forwards.';
/** The reason of a page is the rule's own, or `unreadable`. */
const OWN = null;

/** Rules of one code, null without an `OAuthError`, and one reason, a text of a page: `errors.reasons` in `languages/`. */
function rules<const Code, const Reason, Id extends string>(
  code: Code & (OAuthErrorCode | null),
  reason: Reason,
  remedies: Readonly<Record<Id, string>>,
) {
  const records = Object.entries(remedies).map(([id, remedy]) => [id, { code, reason, remedy }] as const);
  return Object.fromEntries(records) as Record<Id, { code: Code; reason: Reason; remedy: string }>;
}

/** Every rule that a request can break, by its check's id. The operator's remedy is here; the check has the message. */
export const RULES = {
  // The form of a request.
  ...rules('invalid_request', 'too_long', recordOf(['too_many_parameters', 'too_long'], TOO_LONG)),
  ...rules('invalid_request', 'missing_parameter', {
    missing_parameter: MALFORMED,
    needs_pkce:
      'The application must follow OAuth 2.1 (`assent client show ID`), so it must send code_challenge with the method S256.',
  }),
  ...rules('invalid_request', 'wrong_parameter', {
    ...recordOf(['doubled_parameter', 'undecodable_parameter', 'sent_in_two_places'], MALFORMED),
    ...recordOf(['wrong_response_type', 'wrong_code_challenge'], MALFORMED),
    instance_name_too_long: TOO_LONG,
    unclear_instance_name:
      'The application must send an instance_name of visible characters with single spaces: see docs/integrate/guide.md.',
  }),
  ...rules('invalid_request', OWN, {
    ...recordOf(
      ['parameters_in_url', 'body_not_a_form', 'wrong_grant_type', 'wrong_code_verifier', 'wrong_payment'],
      MALFORMED,
    ),
    ...recordOf(
      ['two_client_secrets', 'two_client_ids', 'unreadable_credentials', 'missing_bearer'],
      MALFORMED,
    ),
    ...recordOf(
      ['unreadable_body', 'unreadable_http', 'too_many_headers', 'two_hosts', 'no_path'],
      UNREADABLE,
    ),
    // The sign-in at SIGN_IN_ISSUER, and the redirect URI of an exchange.
    sign_in_lost:
      'The sign-in began in another browser or over 10 minutes ago, four later ones replaced it, or it is complete.',
    sign_in_no_cookies: 'The browser stores no cookies of Assent, or the sign-in began in another one.',
    sign_in_other_user:
      'The user confirmed a payment as another user of the provider. The user signs out here, and starts again.',
    redirect_uri_differs:
      'The application must send the same redirect_uri at /oauth/token as at /oauth/authorize. The code stays usable.',
  }),
  ...rules('invalid_request', 'sign_in_failed', {
    sign_in_unfinished: 'The provider ended the sign-in, often because its page was open for too long.',
    sign_in_failed:
      'Compare the client at the provider with SIGN_IN_CLIENT_ID, SIGN_IN_CLIENT_SECRET and the redirect URI BASE_URL/oauth/sign-in/callback. A refused `state`, `nonce`, `iss` or `aud` can be an attack.',
    sign_in_unconfirmed:
      'The provider must answer `acr_values` with the `acr` of SIGN_IN_PAYMENT_ACR, ask the user again (`max_age=0`), and send `auth_time`. Also compare both clocks.',
  }),
  ...rules('invalid_request', 'sign_in_refused', {
    sign_in_user_unknown:
      'Import the user with this external id (`assent user import`), set it by `assent user update LOGIN --external-id ID`, or set SIGN_IN_NEW_USERS to create.',
    sign_in_user_unusable:
      'The rule says what prevents the registration: register the user by `assent user create`, then `assent user update LOGIN --external-id ID`.',
  }),
  ...rules('invalid_request', 'sign_in_wait', {
    too_many_tries:
      'The user has to wait; `assent audit --login LOGIN` shows whether passwords were guessed.',
  }),
  ...rules('invalid_request', 'wrong_return_address', {
    redirect_uri_too_long: TOO_LONG,
    redirect_uri_unregistered:
      'Compare the URI with `assent client show ID`, character by character. If the application has moved, run `assent client update ID --redirect-uri URI`.',
    redirect_uri_appended:
      'The registered URI is right, but the application may not append this to it: use another name for the parameter, or plain ASCII.',
  }),
  ...rules('unauthorized_client', 'unknown_application', {
    client_unregistered:
      'The client_id is not registered here: compare it with `assent client list`, on the database of the server (DATABASE_URL or DATA_DIR).',
    client_blocked:
      'An operator blocked the application: `assent audit --client ID` shows who, and `assent client unblock ID` unblocks it.',
  }),
  ...rules('unauthorized_client', OWN, {
    ...recordOf(['client_not_authenticated', 'secret_wrong', 'client_unknown_or_blocked'], CLIENT_SECRET),
  }),
  ...rules('unauthorized_client', 'no_longer_possible', {
    client_or_user_blocked:
      'The client or the user was blocked while the page was open. See `assent client show ID` and `assent user show LOGIN`.',
  }),
  ...rules('invalid_scope', 'unreadable_rights', {
    openid_scope: NO_OPENID,
    unreadable_rights:
      'The scope does not follow the grammar in docs/integrate/scopes.md; the rule names the position, or LIMITS.',
    right_not_offered:
      'This service does not offer the right: see CATALOGUE in docs/operate/configuration.md.',
  }),
  ...rules('invalid_scope', OWN, {
    no_rights: MALFORMED,
    right_not_allowed:
      'The application may not request this right: see `assent client show ID`; `assent client update ID --right …` allows it.',
    unclear_target:
      'Targets must have no spaces, invisible characters or mixed scripts: see docs/integrate/scopes.md.',
    contradiction: 'The rights contradict each other: see docs/integrate/scopes.md#contradictions.',
    ended_right: 'The application must ask for a right until today (UTC) or later.',
    right_outlives_token:
      'A token lives three years: the application must ask for a right until an earlier day.',
    above_ceiling:
      'The limit exceeds the ceiling of the application: see `assent client show ID`; `assent client update ID --most DAYS,SUM` raises it.',
  }),
  // The code: `CHECKS` in store/token/exchanges.ts.
  ...rules('invalid_grant', OWN, {
    code_malformed:
      'This isn’t a code from Assent: a code begins with assent_ac_ and has 74 characters. It may be cut off, altered, or an access token (assent_at_).',
    code_unknown:
      'A later authorization of the same user annulled the code, or it belongs to another client. See `assent audit --client ID`.',
    code_expired:
      'The application must exchange the code at once (CODE_LIFETIME_SECONDS); often a queue or a retry delays it. The user has to start again.',
    code_used:
      'The application exchanged one code twice, often by an automatic retry. If it got no token, the user has to start again.',
    code_replayed:
      'The code arrived twice, so it may be stolen, and the token is revoked. `assent audit --ref REF` shows the user; find the program that sent the second request.',
    client_changed:
      'An operator changed the application between consent and exchange, see `assent audit --client ID --outcome client_updated`. The user has to start again.',
    ...recordOf(['verifier_missing', 'verifier_unneeded'], LOST_PKCE),
    verifier_mismatch:
      'The application must send the PKCE verifier that belongs to the challenge of this request. The code stays usable.',
  }),
  ...rules('invalid_grant', 'sign_in_refused', {
    user_blocked: 'The user is blocked, see `assent user show LOGIN`; `assent user unblock LOGIN` unblocks.',
  }),
  ...rules(null, OWN, {
    resource_not_authenticated:
      'Run `assent resource show ID`. If there is no such resource, the name in HTTP Basic is wrong. If it is blocked, run `assent resource unblock ID`. Otherwise the secret is wrong: see `assent resource secret list ID`, and run `assent resource secret add ID` for a new one.',
    wrong_metrics_token:
      'Prometheus must send METRICS_TOKEN: set `authorization` in its scrape job, see deploy/prometheus/README.md.',
    too_many_instances:
      'The user must disconnect one authorization at /oauth/account, or MAX_INSTANCES must be raised. Often the application makes up a new instance_name each time.',
    too_many_decisions:
      'Decisions come faster than a person reads, so a program makes them. The limit ends within a minute.',
    ...recordOf(
      ['wrong_password', 'password_refused', 'wrong_limits'],
      'The form shows the user the problem.',
    ),
    embedded:
      'The application shows the page in a frame or requests it by a script; it must open the browser.',
    ...recordOf(['not_found', 'unreadable_address'], BAD_LINK),
    openid_address: NO_OPENID,
    wrong_method: 'The program must use another HTTP method.',
    // This service: 503 (flows/common/unavailable.ts) and 500.
    overload:
      'Too many requests to answer in time: see `assent_unavailable_total`, the load of server and database, and docs/operate/503.md.',
    provider:
      'SIGN_IN_ISSUER did not answer, so users can’t sign in; everything else works. Run `assent doctor` on this machine.',
    database:
      'The database was unreachable or failed: run `assent doctor`, and read the log at level error around that time; see docs/operate/503.md.',
    server_error: 'A fault of Assent: the log has a line at level error with this reference and the cause.',
  }),
};

/** The id of a rule: stable even if its text changes. */
export type RuleId = keyof typeof RULES;

export const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** The rules of an {@link OAuthErrorCode}. */
export type OAuthRuleId = { [Id in RuleId]: (typeof RULES)[Id]['code'] extends null ? never : Id }[RuleId];

/** The advice about a refusal; its commands contain the known values. @param ruleId null, or of another build */
export function remedyFor(
  ruleId: string | null,
  { clientId, reference }: { readonly clientId?: string | null; readonly reference?: string } = {},
): string {
  const rule = RULE_IDS.find((id) => id === ruleId);
  if (rule !== undefined)
    return RULES[rule].remedy
      .replaceAll(/(`assent (?:client|audit)[\w -]*? )ID\b/g, `$1${clientId ?? 'ID'}`)
      .replaceAll(/\bREF\b/g, reference ?? 'REF');
  return 'Another build of Assent recorded this refusal, and this build has no advice for its rule. Read the text of the rule, the log of that time and docs/integrate/errors.md.';
}
