import { OAuthError } from '../common/error.ts';
import type { OAuthErrorCode, OAuthRuleId } from '../common/refusals.ts';

/** Several times the parameters of any request and form, except a form with limits. */
export const MAX_PARAMETERS = 64;

/** A faulty value of a parameter: the broken rule, and what the message says of the parameter. */
type Fault = readonly [OAuthRuleId, said: string];
const DOUBLED: Fault = ['doubled_parameter', 'was sent more than once'];
const UNDECODABLE: Fault = ['undecodable_parameter', 'is not text in percent-encoded UTF-8'];

/**
 * The parameters of one request in `application/x-www-form-urlencoded`, UTF-8 (contract section 4). Reading a faulty parameter
 * raises its error: unknown ones are ignored with any content, and the contract's order of checks holds.
 */
export class Parameters {
  readonly #values = new Map<string, string | Fault>();
  readonly #pairs: readonly string[];

  /** @param encoded the form body or the query string, without the leading `?` @throws {OAuthError} above `most` */
  constructor(encoded: string, most = MAX_PARAMETERS) {
    this.#pairs = encoded.split('&', most + 1);
    if (this.#pairs.length > most)
      throw new OAuthError('too_many_parameters', `The request has more than ${most} parameters.`);
    for (const pair of this.#pairs) {
      const [name, value] = splitPair(pair);
      if (name === undefined) continue;
      this.#values.set(name, this.#values.has(name) ? DOUBLED : (value ?? UNDECODABLE));
    }
  }

  /** True also for empty or faulty ones. */
  hasAny(names: readonly string[]): boolean {
    return names.some((name) => this.#values.has(name));
  }

  /**
   * The value of a parameter; undefined if it is missing or empty (RFC 6749 section 3.1).
   * @throws {OAuthError} `invalid_request` if given twice, `malformed` (the contract gives `scope` its own) if not UTF-8
   */
  get(name: string, malformed: OAuthErrorCode = 'invalid_request'): string | undefined {
    const value = this.#values.get(name);
    if (typeof value !== 'object') return value === '' ? undefined : value;
    const [ruleId, said] = value;
    const code = ruleId === 'doubled_parameter' ? 'invalid_request' : malformed;
    throw new OAuthError(ruleId, `The parameter ${name} ${said}.`, { code, parameter: name });
  }

  /** Like {@link get}, but `undefined` for a fault: for a parameter that never refuses a request. */
  find(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** Only those parameters, encoded as sent, including faults. */
  only(names: readonly string[]): string {
    const wanted = new Set(names);
    const pairs = this.#pairs.filter((pair) => wanted.has(splitPair(pair)[0] ?? ''));
    return pairs.join('&').replaceAll(/[^\x21-\x7e]+/gu, encodeURIComponent);
  }

  /** The value of a required parameter. @throws {OAuthError} `invalid_request`, also if it is missing */
  require(name: string): string {
    const value = this.get(name);
    if (value !== undefined) return value;
    throw new OAuthError('missing_parameter', `The parameter ${name} is missing.`, { parameter: name });
  }

  requireValue(name: string, value: string, ruleId: OAuthRuleId): void {
    if (this.require(name) === value) return;
    throw new OAuthError(ruleId, `The parameter ${name} must be ${value}.`, { parameter: name });
  }
}

function splitPair(pair: string): [name: string | undefined, value: string | undefined] {
  const equals = pair.indexOf('=');
  if (equals < 0) return [decodeForm(pair), ''];
  return [decodeForm(pair.slice(0, equals)), decodeForm(pair.slice(equals + 1))];
}

/** Stricter than usual parsers, for which `%ZZ` and `%FF` are literal text. @returns undefined if not UTF-8, or with a NUL */
export function decodeForm(encoded: string): string | undefined {
  // Most names and values need no decoding; decoding them all would be a twentieth of an exchange's work.
  if (/^[\w.~:/-]*$/.test(encoded)) return encoded;
  // U+FFFD before decoding stands for lost bytes that were not UTF-8.
  if (encoded.includes('\uFFFD')) return undefined;
  try {
    const text = decodeURIComponent(encoded.replaceAll('+', ' '));
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
