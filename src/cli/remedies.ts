/** What to do about a refusal, by its rule. The first that fits is meant. */
const REMEDIES: readonly (readonly [rule: RegExp, remedy: string])[] = [
  [
    /^client_id is not registered/,
    'Compare the client_id that the application sends with `assent client list`.',
  ],
  [
    /client is blocked/,
    'The application was blocked: `assent client show ID`, and `assent client unblock ID` if that was a mistake.',
  ],
  [/client or the user was blocked/, 'Look at both: `assent client show ID`, `assent user show LOGIN`.'],
  [/the user is blocked/, 'The user was blocked between consent and exchange: `assent user show LOGIN`.'],
  [
    /redirect_uri differs from the authorization request/,
    'The application has to send the same redirect_uri at /oauth/token as at /oauth/authorize. The code stays usable.',
  ],
  [
    /redirect_uri|registered one/i,
    'Compare what the application sends with `assent client show ID`, character by character; if the application moved: `assent client update ID --redirect-uri URI`.',
  ],
  [
    /may not ask/,
    'The application asks for more than it may: `assent client show ID`; `assent client update ID --right …` allows more.',
  ],
  [/catalogue/, 'This service does not offer the right: see CATALOGUE in docs/operating.md.'],
  [/scope/, 'The application has to send a scope of the grammar in docs/scopes.md.'],
  [
    /code expired/,
    'The application has to exchange the code as soon as it gets it: see CODE_LIFETIME_SECONDS. Often its clock or a queue is behind; the user has to start again.',
  ],
  [
    /code used again/,
    'The code came twice, which may mean that it was stolen: the token is revoked. Find out who sent the second request: `assent audit --ref REF`.',
  ],
  [
    /code used or revoked/,
    'The application exchanges one code twice, often by trying again on its own; the user has to start again if it has no token.',
  ],
  [
    /code never issued/,
    'Another authorization came after this one, or the application sends a code that is not its own: `assent audit --client ID`.',
  ],
  [
    /code_verifier|code_challenge/,
    'The application has to keep the PKCE verifier from the request to the exchange: see docs/integrating.md.',
  ],
  [
    /client_secret|unknown or blocked client/,
    'Check client_id and secret: `assent client secret list ID`; `assent client secret add ID` makes another.',
  ],
  [
    /sent more than once|is missing|percent-encoded|must be|is not text|in the body/,
    'The application sends a request that the contract does not allow; the rule says which part. docs/integrating.md has examples that work.',
  ],
  [
    /longer than|too long|TOO_LARGE|OVERFLOW/,
    'The request is too long, often by its state or scope: docs/integrating.md names the limits.',
  ],
  [
    /unreadable HTTP|Basic/,
    'What came was not readable: look at the program that sent it, or at the proxy between.',
  ],
  [
    /as a part of another page/,
    'The application shows our page in a frame or asks for it by a script; it has to open the browser.',
  ],
  [
    /nothing at this address|address can’t be read/,
    'The link is wrong: see BASE_URL, and the paths that the proxy leads here.',
  ],
  [/This address takes/, 'The program has to ask with another method.'],
  [
    /too many questions|passwords are waiting|came to the database too late|not answered/,
    'More came than could be answered. Look at `assent_unavailable_total` and the load of server and database.',
  ],
  [
    /database|PostgreSQL|connection|statement|ECONN|SQLSTATE/i,
    'The database was away or failed: `assent doctor`, and the log of level error around that time.',
  ],
  [
    /a fault of ours/,
    'A fault of Assent: the log has a line of level error with this reference and the cause.',
  ],
];

/** What an operator can do about a refusal. */
export function remedyFor(rule: string): string {
  return (
    REMEDIES.find(([pattern]) => pattern.test(rule))?.[1] ??
    'The rule says what was wrong with the request; docs/integrating.md says what is right.'
  );
}
