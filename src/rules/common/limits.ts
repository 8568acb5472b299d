// Sizes and counts of the contract and of our decisions, with unit and reason. Limits of one mechanism are in its own file.

/** An authorization request as a query: with its address it fits the 8 KB that every proxy and browser accepts. */
export const MAX_CANONICAL_QUERY_BYTES = 6000;
/** `instance_name` (contract 2.2). */
export const MAX_INSTANCE_NAME_BYTES = 255;
/** A text in a scope, such as the number of a shop or an account. */
export const MAX_SCOPE_TEXT_CHARACTERS = 128;
/** A menu of more could not be used, and each has its texts in memory. */
export const MAX_LANGUAGES = 40;

/** In an operator's catalogue, beside the built-in ones. */
export const MAX_CUSTOM_RIGHTS = 50;

/** A redirect URI to register: it leaves most of the query to the other parameters. */
export const MAX_REDIRECT_URI_CHARACTERS = 2000;
/** The name of an application, a resource server or a user: one line of a page. */
export const MAX_NAME_CHARACTERS = 100;
export const MAX_LOGIN_CHARACTERS = 128;
/** A user's id in another system, such as the `sub` of its OpenID provider (OpenID Connect Core 1.0, section 2). */
export const MAX_EXTERNAL_ID_CHARACTERS = 255;
/** No login of {@link MAX_LOGIN_CHARACTERS} is longer in UTF-8. */
export const MAX_LOGIN_BYTES = 4 * MAX_LOGIN_CHARACTERS;
/** OWASP's minimum; `--allow-weak` permits less. */
export const MIN_PASSWORD_CHARACTERS = 8;
/** Passphrases fit, and all hashes take the same time. */
export const MAX_PASSWORD_BYTES = 1000;

/** `MAX_INSTANCES`: live authorizations of a user for one application, each with its own `instance_name`. */
export const INSTANCES = { min: 1, max: 100_000, default: 100 };
/** `MAX_CONNECTIONS`: open connections of one server; each takes a file descriptor. */
export const CONNECTIONS = { min: 10, max: 100_000, default: 4_000 };

/** Sessions of a user: a further one ends the oldest. */
export const MAX_SESSIONS = 100;
/** Users known in one browser, the last to sign in. */
export const MAX_KNOWN_USERS = 3;

/** Burst of a user's decisions (Allow, Reject, disconnecting all); then one more every 2 seconds. */
export const MAX_DECISIONS = 1_000;
export const DECISION_DECAY_SECONDS = 2;

/** Scopes on one page of authorizations or events; the first authorization is shown at any length. */
export const MAX_SHOWN_SCOPE_CHARACTERS = 16_000;
/** JSON with scopes of one application that a page adds up: reading them takes a millisecond or two. */
export const MAX_SUMMED_SCOPE_CHARACTERS = 32_000;

/** Failed requests of programs from one network in a minute: far more than any working application makes. */
export const MAX_FAILED_API_REQUESTS_PER_MINUTE = 1_000;
