import { OAuthError } from '../common/error.ts';
import { MAX_SCOPE_TEXT_CHARACTERS } from '../common/limits.ts';

export const NOT_A_RIGHT = 'The parameter scope has a value that is not a right of this service.';

/** Scans a scope from left to right: it can't be split at spaces, which its strings may contain. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** Takes the match of `pattern` (sticky) here; undefined without one. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0];
    this.#at += taken?.length ?? 0;
    return taken;
  }

  skipSpaces(): boolean {
    return this.take(/ +/y) !== undefined;
  }

  takeComma(): void {
    if (this.take(/, ?/y) === undefined) this.fail('a comma');
  }

  /** `("…", "…")` */
  takeStrings(): string[] {
    if (this.take(/\(/y) === undefined) this.fail('an opening parenthesis');
    const strings = [this.#takeString()];
    while (this.take(/\)/y) === undefined) {
      this.takeComma();
      strings.push(this.#takeString());
    }
    return strings;
  }

  #takeString(): string {
    const quoted = this.take(/"(?:[^"\\]|\\["\\])*"/y);
    if (quoted === undefined) return this.fail('a text in double quotes');
    const text = quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
    if ([...text].length > MAX_SCOPE_TEXT_CHARACTERS) {
      return this.fail(`a text of at most ${MAX_SCOPE_TEXT_CHARACTERS} characters`);
    }
    return text;
  }

  /** @throws {OAuthError} `invalid_scope`, with what was expected and where */
  fail(expected: string): never {
    const rule = `scope: expected ${expected} before or at character ${this.#at + 1}`;
    throw new OAuthError('unreadable_rights', NOT_A_RIGHT, rule);
  }
}
