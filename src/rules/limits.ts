// How large and how many, where the contract or a decision of ours says so, each with its unit and its reason. Lifetimes are
// in `lifetimes.ts`, waits after wrong passwords in `throttle.ts`. A limit that keeps one mechanism from overload stands beside
// it, mostly as a `MAX_…`: on connections, headers and bodies in `http/app.ts`, `http/server/` and `http/browser/forms.ts`, on
// passwords that wait in `secrets/password.ts`, on statements and rows in `store/`, on pages and refusals in `flows/`.

/**
 * The parameters of an authorization request together, as a query: with the address in front it stays below the 8 KB that
 * every proxy and browser carries. A single parameter that is longer is refused unread.
 */
export const MAX_CANONICAL_QUERY_BYTES = 6000;
/** `instance_name` (contract 2.2). */
export const MAX_INSTANCE_NAME_BYTES = 255;
/** A text in a scope, such as the number of a shop or an account. */
export const MAX_SCOPE_TEXT_CHARACTERS = 128;

/** A redirect URI to register: it leaves the larger part of the query to the other parameters. */
export const MAX_REDIRECT_URI_CHARACTERS = 2000;
/** The name of an application, a resource server or a user: one line of a page. */
export const MAX_NAME_CHARACTERS = 100;
export const MAX_LOGIN_CHARACTERS = 128;
/** No login of {@link MAX_LOGIN_CHARACTERS} is longer in UTF-8. */
export const MAX_LOGIN_BYTES = 4 * MAX_LOGIN_CHARACTERS;
/** OWASP's minimum; `--allow-weak` goes below. */
export const MIN_PASSWORD_CHARACTERS = 8;
/** Passphrases fit, and hashing one takes no longer than hashing another. */
export const MAX_PASSWORD_BYTES = 1000;

/** `MAX_INSTANCES`: live authorizations of a user for one application, each under an `instance_name` of its own. */
export const INSTANCES = { min: 1, max: 100_000, default: 100 };
/** `MAX_CONNECTIONS`: open connections of one server; each takes a file descriptor. */
export const CONNECTIONS = { min: 10, max: 100_000, default: 4_000 };

/** `READ_LAG_MS`: below a network's round trips it would only send every question to the primary. */
export const READ_LAG_MS = { min: 100, max: 600_000 };

/** Sessions of a user: with another one the oldest ends. */
export const MAX_SESSIONS = 100;
/** People who are known in one browser, those who signed in last. */
export const MAX_KNOWN_USERS = 3;

/** Decisions (Allow, Reject, disconnecting all) of a user at once: far more than a person reads. After these one is free every 2 seconds. */
export const MAX_DECISIONS = 1_000;
export const DECISION_DECAY_SECONDS = 2;

/** Failed requests of programs from one network in a minute: many more than an application in good order ever makes. */
export const MAX_FAILURES_PER_MINUTE = 1_000;
