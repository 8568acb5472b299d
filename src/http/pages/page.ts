import type { Session } from '../../flows/signIn/session.ts';

/** How a page is sent. */
export interface PageTemplate {
  /** The template in `views/`. */
  readonly name: string;
  /**
   * The fields of one user, which the template may only show, or omit if null. Pages that differ in nothing else are rendered
   * once (docs/develop/pages.md#pieces); without the list each page is.
   */
  readonly ownValues?: readonly string[];
  /** It has a password field, for which it gets the script. */
  asksForPassword?(fields: object): boolean;
  /** The answer to its form is a redirect to the application, which `form-action` would block. */
  readonly leadsToApplication?: boolean;
}

/** A page, defined in its own file, with the fields of its template. Texts are ready to read; null omits one. */
export interface Page<Fields extends object> extends PageTemplate {
  readonly ownValues?: readonly (keyof Fields & string)[];
  asksForPassword?(fields: Fields): boolean;
}

/** The fields of a page with a form. */
export interface FormFeedback {
  /** The outcome of the previous form, or the reason for the page. */
  readonly undone: string | null;
  readonly error: string | null;
}

/** Browsers fill in a payment password by this exact name, the same in each language. */
export function paymentPasswordUsername({ login }: Pick<Session['user'], 'login'>): string {
  return `${login} (payment)`;
}
