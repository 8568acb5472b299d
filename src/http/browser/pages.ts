import type { AuthorizedClient, Cursor, LiveAuthorization } from '../../flows/authorizations.ts';
import type { DescribedRight } from './describe.ts';

/**
 * The fields of each page of `views/`. Texts are ready to read: a template decides how they look, never what they mean, and
 * escapes everything.
 */
export type Page = SignInPage | PaymentPasswordPage | ConsentPage | ErrorPage | NoticePage | AccountPage;

export interface SignInPage {
  readonly name: 'sign-in';
  /** The canonical query of the request that goes on after signing in; null to go on to the account page. */
  readonly request: string | null;
  readonly formToken: string;
  /** The application that asks; null on the way to the account page. */
  readonly clientName: string | null;
  /** What was typed before, so that a wrong password doesn't cost the login too. */
  readonly login: string;
  /** What was not done, or why the page comes; null where that needs no word. */
  readonly undone: string | null;
  readonly error: string | null;
}

/** The pages between sign-in and the answer: the access that is asked for. */
export interface RequestPage {
  readonly request: string;
  readonly clientName: string;
  readonly instanceName: string | null;
  /** Where the browser goes afterwards, as host name or scheme, for example `shop.example`. */
  readonly returnsTo: string;
  readonly userName: string;
  readonly userLogin: string;
  readonly rights: readonly DescribedRight[];
  /** Until when the authorization is valid, for example `20 November 2029`. */
  readonly validUntil: string;
  /** The authorization that confirming disconnects; null when there is none. */
  readonly earlier: { readonly confirmedOn: string; readonly rights: readonly DescribedRight[] } | null;
  /** What came of the form that was sent before; null where that needs no word. */
  readonly undone: string | null;
  /** For the "Not you?" form, which signs out and comes back to this request. */
  readonly signOutToken: string;
}

export interface PaymentPasswordPage extends RequestPage {
  readonly name: 'payment-password';
  readonly formToken: string;
  readonly error: string | null;
}

export interface ConsentPage extends RequestPage {
  readonly name: 'consent';
  /** The form token that Allow and Reject send back, signed over what this page shows. */
  readonly decisionToken: string;
}

/** For those who look after it that a refusal does not come again. */
export interface Refusal {
  /** Who should have the details. */
  readonly passOn: string;
  /** The contract's error code, shown as text; null where there is none. */
  readonly code: string | null;
  /** Names the log line that says more. */
  readonly reference: string;
  /** For developers, in trial mode only: what `assent explain` says. */
  readonly explained: { readonly rule: string; readonly remedy: string } | null;
}

export interface ErrorPage extends Refusal {
  readonly name: 'error';
  readonly title: string;
  /** What happened, whose fault it is, and what to do next: a paragraph each. */
  readonly text: string;
  readonly fault: string;
  readonly next: string;
  readonly link: Link;
}

/** Where a page leads on to. */
export interface Link {
  readonly href: string;
  readonly text: string;
  readonly inNewTab?: boolean;
}

export interface NoticePage {
  readonly name: 'notice';
  readonly title: string;
  readonly text: string;
  readonly links: readonly Link[];
  /** Null where nothing was refused. */
  readonly refusal: Refusal | null;
}

export interface AccountPage {
  readonly name: 'account';
  readonly userName: string;
  readonly userLogin: string;
  readonly signOutToken: string;
  /** Live ones, newest first. */
  readonly authorizations: readonly Authorization[];
  /** The applications on this page that have more than one authorization, on whichever page. */
  readonly several: readonly AuthorizedApplication[];
  /** Where this page begins, for its forms, which lead back to it. */
  readonly place: Cursor;
  /** The pages of newer and older authorizations; null where there are none. */
  readonly newer: string | null;
  readonly older: string | null;
  /** Said once at the top after something was done, for example `Demo Shop is disconnected.` */
  readonly done: string | null;
  /** Said once at the top after something could not be done. */
  readonly undone: string | null;
}

/** One application instance that can act on the user's account, or could if the application were not blocked. */
export interface Authorization extends Omit<LiveAuthorization, 'confirmedAt' | 'expiresAt' | 'rights'> {
  readonly confirmedOn: string;
  readonly validUntil: string;
  readonly rights: readonly DescribedRight[];
}

/** An application with all its authorizations, and how many there are, for example `37`. */
export interface AuthorizedApplication extends Omit<AuthorizedClient, 'live' | 'orMore'> {
  readonly total: string;
}
