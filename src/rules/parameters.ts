import { invalidRequest, OAuthError, type OAuthErrorCode } from './error.ts';

/** Several times what any request and any form sends, but for a form with limits. */
export const MAX_PARAMETERS = 64;

/**
 * The parameters of one request in `application/x-www-form-urlencoded`, UTF-8 (contract section 4).
 *
 * A fault is raised when its parameter is read, so that unknown parameters are ignored whatever they hold, and the order of
 * checks stays the contract's.
 */
export class Parameters {
  /** Undefined for a value that can't be decoded. */
  readonly #values = new Map<string, string | undefined>();
  readonly #doubled = new Set<string>();
  readonly #pairs: readonly string[];

  /** @param encoded the form body or the query string, without the leading `?` @throws {OAuthError} above `most` */
  constructor(encoded: string, most = MAX_PARAMETERS) {
    this.#pairs = encoded.split('&', most + 1);
    if (this.#pairs.length > most)
      throw invalidRequest(`The request has more than ${most} parameters.`, { reason: 'too_long' });
    for (const pair of this.#pairs) {
      const [name, value] = splitPair(pair);
      if (name === undefined) continue;
      if (this.#values.has(name)) this.#doubled.add(name);
      this.#values.set(name, value);
    }
  }

  /** Whether any of `names` was sent, also empty or with a fault. */
  hasAny(names: readonly string[]): boolean {
    return names.some((name) => this.#values.has(name));
  }

  /**
   * The value of a parameter; `undefined` when it was left out or empty (RFC 6749 section 3.1).
   *
   * @param malformed the code for a value that is not UTF-8 text: the contract gives `scope` its own
   * @throws {OAuthError} `invalid_request` when it was given twice, `malformed` when it can't be decoded
   */
  get(name: string, malformed: OAuthErrorCode = 'invalid_request'): string | undefined {
    if (this.#doubled.has(name)) {
      const details = { reason: 'doubled_parameter', parameter: name } as const;
      throw invalidRequest(`The parameter ${name} was sent more than once.`, details);
    }
    const value = this.#values.get(name);
    if (value === undefined && this.#values.has(name)) {
      const details = { reason: 'undecodable_parameter', parameter: name } as const;
      throw new OAuthError(malformed, `The parameter ${name} is not text in percent-encoded UTF-8.`, details);
    }
    return value === '' ? undefined : value;
  }

  /** Those parameters alone, encoded as they were sent, with whatever fault they have. */
  only(names: readonly string[]): string {
    const wanted = new Set(names);
    const pairs = this.#pairs.filter((pair) => wanted.has(splitPair(pair)[0] ?? ''));
    return pairs.join('&').replaceAll(/[^\x21-\x7e]+/gu, encodeURIComponent);
  }

  /** Like {@link get}, for a parameter that must be there. @throws {OAuthError} `invalid_request` */
  require(name: string): string {
    const value = this.get(name);
    if (value !== undefined) return value;
    const details = { reason: 'missing_parameter', parameter: name } as const;
    throw invalidRequest(`The parameter ${name} is missing.`, details);
  }
}

function splitPair(pair: string): [name: string | undefined, value: string | undefined] {
  const equals = pair.indexOf('=');
  if (equals < 0) return [decodeForm(pair), ''];
  return [decodeForm(pair.slice(0, equals)), decodeForm(pair.slice(equals + 1))];
}

/**
 * Decodes a name or value of `application/x-www-form-urlencoded`. Strict where the usual parsers are lenient: `%ZZ` and
 * `%FF` are no literal text.
 *
 * @returns undefined for what is not percent-encoded UTF-8, or has a NUL
 */
export function decodeForm(encoded: string): string | undefined {
  // U+FFFD before decoding stands for bytes that were not UTF-8 and are lost already.
  if (encoded.includes('\uFFFD')) return undefined;
  try {
    // Most names and values have nothing to decode; decoding them all would be a twentieth of an exchange's work.
    const text = /[%+]/.test(encoded) ? decodeURIComponent(encoded.replaceAll('+', ' ')) : encoded;
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
