/** What an operator can do about a refused request, by a pattern of its rule. The first match wins: what is special comes first. */
const REMEDIES: Readonly<Record<string, string>> = {
  // What was sent is not as it has to be, whatever it is about.
  'is longer than|more than \\d+ parameters|TOO_LARGE|OVERFLOW':
    'The application sends more than is taken, often in state or scope. docs/integrating.md says how much that is.',
  'sent more than once|is missing|not text in percent-encoded|in the body|Bearer\\.$|HTTP Basic|must be|base64url form|without code_challenge|characters\\.$|missing or empty':
    'The application sends a request that is not as it has to be; the rule says in which part. docs/integrating.md has requests that work.',
  // Who asks.
  '^client_id is not registered':
    'The application sends a client_id that is not registered here: compare it with `assent client list`.',
  '^the client is blocked':
    'An operator blocked the application: `assent audit --client ID` says who; `assent client unblock ID` ends it.',
  'unknown or blocked client|client_secret':
    'Look with `assent client show ID`: if there is none, the client_id is wrong; if it is blocked, `assent client unblock ID` ends that; otherwise the secret is wrong, see `assent client secret list ID` and `assent client secret add ID`.',
  METRICS_TOKEN:
    'Prometheus has to send METRICS_TOKEN: `authorization` in its configuration, see deploy/prometheus/README.md.',
  resource:
    'Look with `assent resource show ID`: if there is none, the name in HTTP Basic is wrong; if it is blocked, `assent resource unblock ID` ends that; otherwise the secret is wrong, see `assent resource secret list ID` and `assent resource secret add ID`.',
  'the client or the user was blocked':
    'One of them was blocked while the page was open: `assent client show ID`, `assent user show LOGIN`.',
  'the user is blocked': 'The user was blocked between consent and exchange: `assent user show LOGIN`.',
  // Where the browser goes back to.
  'redirect_uri differs from the authorization request':
    'The application has to send the same redirect_uri at /oauth/token as at /oauth/authorize. The code stays usable.',
  'redirect_uri (appends|has appended)':
    'The application appends something to its redirect URI that it may not: another name for the parameter, or plain ASCII, helps. The registered URI is right.',
  redirect_uri:
    'Compare what the application sends with `assent client show ID`, character by character; if the application moved: `assent client update ID --redirect-uri URI`.',
  // What is asked.
  'may ask at most':
    'The application asks for more than its ceiling: `assent client show ID`; `assent client update ID --most DAYS,SUM` raises it.',
  'may not ask':
    'The application asks for a right that it may not: `assent client show ID`; `assent client update ID --right …` allows it.',
  catalogue: 'This service does not offer the right: see CATALOGUE in docs/configuration.md.',
  '^instance_name':
    'The application has to send an instance_name that can be seen, with single spaces between words: see docs/integrating.md.',
  '^scope: the target':
    'The application has to name targets without spaces, invisible characters and mixed scripts: see docs/scopes.md.',
  'OpenID provider':
    'The application takes Assent for an OpenID provider, which it is not: leave openid, profile and email out of scope, use OAuth 2.0 with /.well-known/oauth-authorization-server, and learn by introspection whose a token is.',
  '^scope: expected':
    'The application has to send a scope of the grammar in docs/scopes.md; the rule says where it leaves it.',
  '^scope':
    'The application asks for rights that do not go together: see the contradictions in docs/scopes.md.',
  // The code.
  'code expired':
    'The application has to exchange the code at once (CODE_LIFETIME_SECONDS): often a queue or a retry is behind. The user has to start again.',
  'client was changed':
    'An operator changed the application between consent and exchange: `assent audit --client ID --outcome client_updated`. The user has to start again.',
  'code used again':
    'The code came twice, so it may be stolen, and the token is revoked. `assent audit --ref REF` says for whom; find out who sent the second request.',
  'code used or revoked':
    'The application exchanges one code twice, often by trying again by itself. Without a token the user has to start again.',
  'not the form of ours':
    'What the application sends as code never came from Assent: a code begins with assent_ac_ and has 74 characters. It may be cut off, changed on its way, or an access token (assent_at_).',
  'code never issued':
    'A later authorization of the same user annulled it, or the application sends a code that is not its own: `assent audit --client ID`.',
  'no code_':
    'The application has to send code_challenge to /oauth/authorize and the PKCE verifier to /oauth/token, or neither; the rule says which one was not sent. A verifier is often lost with a session or a restart. The code stays usable.',
  code_verifier:
    'The application has to send the PKCE verifier that belongs to the challenge of this very request. The code stays usable.',
  // The user.
  MAX_INSTANCES:
    'The user has to disconnect one of this application at /account, or MAX_INSTANCES has to be raised. Often the application takes a new instance_name each time.',
  'more decisions of one user':
    'A program presses Allow or Reject; a person would have to read. It passes in a minute.',
  // How it came.
  'as a part of another page':
    'The application shows our page in a frame or asks for it by a script; it has to open the browser.',
  'nothing at this address|address can’t be read':
    'The link is wrong: see BASE_URL, and which paths the proxy leads here.',
  'This address takes': 'The program has to ask with another method.',
  "unreadable HTTP|can't be read|too many headers|two hosts|asks for no path":
    'What came can’t be read: look at the program that sent it, and at the proxy between.',
  // Us.
  'a fault of ours':
    'A fault of Assent: the log has a line of level error with this reference and the cause.',
};

/** The rules of 503 with the reason `overload` (`src/flows/unavailable.ts`); every other 503 is the database's. */
const OVERLOAD = /^too many|too late|^no answer within/;
const OVERLOADED =
  'More came than could be answered in time: look at `assent_unavailable_total`, and at the load of server and database.';
const DATABASE_AWAY =
  'The database was away or failed: `assent doctor`, and the log of level error around that time.';

/** What an operator can do about a refusal. */
export function remedyFor({ status, rule }: { status: number; rule: string }): string {
  if (status === 503) return OVERLOAD.test(rule) ? OVERLOADED : DATABASE_AWAY;
  return Object.entries(REMEDIES).find(([pattern]) => new RegExp(pattern).test(rule))?.[1] ?? '';
}
