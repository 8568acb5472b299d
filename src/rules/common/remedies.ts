const TOO_LONG =
  'The application sends more than is taken, often in state or scope. docs/integrating.md says how much that is.';
const MALFORMED =
  'The application sends a request that is not as it has to be; the rule says in which part. docs/integrating.md has requests that work.';
const UNREADABLE = 'The request can’t be read: look at the program that sent it, and at the proxy between.';
const CLIENT_SECRET =
  'Look with `assent client show ID`: if there is none, the client_id is wrong; if it is blocked, `assent client unblock ID` ends that; otherwise the secret is wrong, see `assent client secret list ID` and `assent client secret add ID`.';
const NO_OPENID =
  'The application takes Assent for an OpenID provider, which it is not: leave openid, profile and email out of scope, use OAuth 2.0 with /.well-known/oauth-authorization-server, and learn by introspection whose a token is.';
const LOST_PKCE =
  'The application has to send code_challenge to /oauth/authorize and the PKCE verifier to /oauth/token, or neither; the rule says which one was not sent. A verifier is often lost with a session or a restart. The code stays usable.';
const BAD_LINK = 'The link is wrong: see BASE_URL, and which paths the proxy leads here.';
const BY_THE_USER = 'The user is told on the form, and can correct it there.';

function each<Id extends string>(remedy: string, ...ids: readonly Id[]): Record<Id, string> {
  return Object.fromEntries(ids.map((id) => [id, remedy])) as Record<Id, string>;
}

/** Every rule that a request can break, by the id that its check gives it, and what an operator can do. */
const REMEDIES = {
  // The form of a request.
  ...each(TOO_LONG, 'too_many_parameters', 'too_long'),
  ...each(MALFORMED, 'missing_parameter', 'doubled_parameter', 'undecodable_parameter', 'sent_in_two_places'),
  ...each(MALFORMED, 'parameters_in_url', 'body_not_a_form', 'wrong_response_type', 'wrong_grant_type'),
  ...each(MALFORMED, 'wrong_code_challenge', 'wrong_code_verifier', 'two_client_secrets', 'two_client_ids'),
  ...each(MALFORMED, 'unreadable_credentials', 'missing_bearer'),
  instance_name_too_long: TOO_LONG,
  unclear_instance_name:
    'The application has to send an instance_name that can be seen, with single spaces between words: see docs/integrating.md.',
  // The caller.
  client_unregistered:
    'The application sends a client_id that is not registered here: compare it with `assent client list`.',
  client_blocked:
    'An operator blocked the application: `assent audit --client ID` says who; `assent client unblock ID` ends it.',
  ...each(CLIENT_SECRET, 'client_unknown_or_blocked', 'client_not_authenticated', 'secret_wrong'),
  resource_not_authenticated:
    'Look with `assent resource show ID`: if there is none, the name in HTTP Basic is wrong; if it is blocked, `assent resource unblock ID` ends that; otherwise the secret is wrong, see `assent resource secret list ID` and `assent resource secret add ID`.',
  wrong_metrics_token:
    'Prometheus has to send METRICS_TOKEN: `authorization` in its configuration, see deploy/prometheus/README.md.',
  client_or_user_blocked:
    'One of them was blocked while the page was open: `assent client show ID`, `assent user show LOGIN`.',
  // The redirect URI.
  redirect_uri_unregistered:
    'Compare what the application sends with `assent client show ID`, character by character; if the application moved: `assent client update ID --redirect-uri URI`.',
  redirect_uri_too_long: TOO_LONG,
  redirect_uri_appended:
    'The application appends something to its redirect URI that it may not: another name for the parameter, or plain ASCII, helps. The registered URI is right.',
  // The scope.
  no_rights: MALFORMED,
  unreadable_rights:
    'The application has to send a scope of the grammar in docs/scopes.md; the rule says where it leaves it.',
  openid_scope: NO_OPENID,
  right_not_offered: 'This service does not offer the right: see CATALOGUE in docs/configuration.md.',
  right_not_allowed:
    'The application asks for a right that it may not: `assent client show ID`; `assent client update ID --right …` allows it.',
  unclear_target:
    'The application has to name targets without spaces, invisible characters and mixed scripts: see docs/scopes.md.',
  contradiction:
    'The application asks for rights that do not go together: see the contradictions in docs/scopes.md.',
  above_ceiling:
    'The application asks for more than its ceiling: `assent client show ID`; `assent client update ID --most DAYS,SUM` raises it.',
  // The code: `CHECKS` in store/token/exchanges.ts.
  code_malformed:
    'What the application sends as code never came from Assent: a code begins with assent_ac_ and has 74 characters. It may be cut off, changed on its way, or an access token (assent_at_).',
  code_unknown:
    'A later authorization of the same user annulled it, or the application sends a code that is not its own: `assent audit --client ID`.',
  code_expired:
    'The application has to exchange the code at once (CODE_LIFETIME_SECONDS): often a queue or a retry is behind. The user has to start again.',
  code_used:
    'The application exchanges one code twice, often by trying again by itself. Without a token the user has to start again.',
  code_replayed:
    'The code came twice, so it may be stolen, and the token is revoked. `assent audit --ref REF` says for whom; find out which program sent the second request.',
  client_changed:
    'An operator changed the application between consent and exchange: `assent audit --client ID --outcome client_updated`. The user has to start again.',
  redirect_uri_differs:
    'The application has to send the same redirect_uri at /oauth/token as at /oauth/authorize. The code stays usable.',
  ...each(LOST_PKCE, 'verifier_missing', 'verifier_unneeded'),
  verifier_mismatch:
    'The application has to send the PKCE verifier that belongs to the challenge of this very request. The code stays usable.',
  user_blocked: 'The user was blocked between consent and exchange: `assent user show LOGIN`.',
  // The user.
  too_many_instances:
    'The user has to disconnect one of this application at /account, or MAX_INSTANCES has to be raised. Often the application takes a new instance_name each time.',
  too_many_decisions:
    'A program presses Allow or Reject; a person would have to read. It passes in a minute.',
  too_many_tries: 'It passes by waiting; `assent audit --login LOGIN` says whether passwords were guessed.',
  ...each(BY_THE_USER, 'wrong_password', 'password_refused', 'wrong_limits'),
  // The address, and HTTP.
  embedded:
    'The application shows our page in a frame or asks for it by a script; it has to open the browser.',
  ...each(BAD_LINK, 'not_found', 'unreadable_address'),
  openid_address: NO_OPENID,
  wrong_method: 'The program has to ask with another method.',
  ...each(UNREADABLE, 'unreadable_body', 'unreadable_http', 'too_many_headers', 'two_hosts', 'no_path'),
  // This service: 503 (flows/common/unavailable.ts) and 500.
  overload:
    'More came than could be answered in time: look at `assent_unavailable_total`, and at the load of server and database.',
  database: 'The database was away or failed: `assent doctor`, and the log of level error around that time.',
  server_error: 'A fault of Assent: the log has a line of level error with this reference and the cause.',
};

/** The id of a rule: stable, whatever its text says. */
export type RuleId = keyof typeof REMEDIES;

export const RULE_IDS = Object.keys(REMEDIES) as readonly RuleId[];

/** The advice about a refusal, its commands with what is known of it. @param ruleId null, or of another build */
export function remedyFor(
  ruleId: string | null,
  { clientId, reference }: { readonly clientId?: string | null; readonly reference?: string } = {},
): string {
  const known = RULE_IDS.find((id) => id === ruleId);
  if (known !== undefined)
    return REMEDIES[known]
      .replaceAll(/(`assent (?:client|audit)[\w -]*? )ID\b/g, `$1${clientId ?? 'ID'}`)
      .replaceAll(/\bREF\b/g, reference ?? 'REF');
  return 'Another build of Assent kept this, so that there is no advice for the rule alone: its text says what was broken, docs/integrating.md and the log of that time how.';
}
