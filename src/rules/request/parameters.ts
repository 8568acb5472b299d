import { invalidRequest, OAuthError, type OAuthErrorCode } from '../common/error.ts';
import type { RuleId } from '../common/remedies.ts';

/** Several times what any request and any form sends, but for a form with limits. */
export const MAX_PARAMETERS = 64;

/** Faults of a parameter, which have no text. */
const DOUBLED = Symbol('sent more than once');
const UNDECODABLE = Symbol('no percent-encoded UTF-8');
type Fault = typeof DOUBLED | typeof UNDECODABLE;

/**
 * The parameters of one request in `application/x-www-form-urlencoded`, UTF-8 (contract section 4). A fault is raised when its
 * parameter is read: unknown ones are ignored whatever they hold, and the order of checks stays the contract's.
 */
export class Parameters {
  readonly #values = new Map<string, string | Fault>();
  readonly #pairs: readonly string[];

  /** @param encoded the form body or the query string, without the leading `?` @throws {OAuthError} above `most` */
  constructor(encoded: string, most = MAX_PARAMETERS) {
    this.#pairs = encoded.split('&', most + 1);
    if (this.#pairs.length > most)
      throw invalidRequest('too_many_parameters', `The request has more than ${most} parameters.`);
    for (const pair of this.#pairs) {
      const [name, value] = splitPair(pair);
      if (name === undefined) continue;
      this.#values.set(name, this.#values.has(name) ? DOUBLED : (value ?? UNDECODABLE));
    }
  }

  /** Also of those sent empty or with a fault. */
  hasAny(names: readonly string[]): boolean {
    return names.some((name) => this.#values.has(name));
  }

  /**
   * The value of a parameter; `undefined` when it was left out or empty (RFC 6749 section 3.1).
   * @throws {OAuthError} `invalid_request` when it was given twice, `malformed` (the contract gives `scope` its own) for no UTF-8
   */
  get(name: string, malformed: OAuthErrorCode = 'invalid_request'): string | undefined {
    const value = this.#values.get(name);
    if (value === DOUBLED) {
      const message = `The parameter ${name} was sent more than once.`;
      throw invalidRequest('doubled_parameter', message, { parameter: name });
    }
    if (value === UNDECODABLE) {
      const message = `The parameter ${name} is not text in percent-encoded UTF-8.`;
      throw new OAuthError(malformed, 'undecodable_parameter', message, { parameter: name });
    }
    return value === '' ? undefined : value;
  }

  /** Like {@link get}, and `undefined` for a fault: of a parameter that no request is refused for. */
  find(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
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
    throw invalidRequest('missing_parameter', `The parameter ${name} is missing.`, { parameter: name });
  }

  /** Of a parameter that has one fixed value. @throws {OAuthError} `invalid_request` for another or none */
  requireValue(name: string, value: string, ruleId: RuleId): void {
    if (this.require(name) === value) return;
    throw invalidRequest(ruleId, `The parameter ${name} must be ${value}.`, { parameter: name });
  }
}

function splitPair(pair: string): [name: string | undefined, value: string | undefined] {
  const equals = pair.indexOf('=');
  if (equals < 0) return [decodeForm(pair), ''];
  return [decodeForm(pair.slice(0, equals)), decodeForm(pair.slice(equals + 1))];
}

/** Stricter than usual parsers, for which `%ZZ` and `%FF` are literal text. @returns undefined for no UTF-8, and for a NUL */
export function decodeForm(encoded: string): string | undefined {
  // Most names and values have nothing to decode; decoding them all would be a twentieth of an exchange's work.
  if (/^[\w.~:/-]*$/.test(encoded)) return encoded;
  // U+FFFD before decoding stands for bytes that were not UTF-8 and are lost already.
  if (encoded.includes('\uFFFD')) return undefined;
  try {
    const text = decodeURIComponent(encoded.replaceAll('+', ' '));
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
