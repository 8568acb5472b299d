import type { RightChange } from '../../rules/difference.ts';
import type { AccountPage, HistoryPage, PasswordPage, SecurityPage } from './accountPages.ts';
import type { DescribedRight } from './describe.ts';
import type { Link } from './links.ts';

/**
 * The fields of each page of `views/`. Texts are ready to read: a template decides how they look, never what they mean, and
 * escapes everything.
 */
export type Page =
  | SignInPage
  | PaymentPasswordPage
  | RejectPage
  | ConsentPage
  | ErrorPage
  | NoticePage
  | AccountPage
  | HistoryPage
  | SecurityPage
  | PasswordPage;

export interface SignInPage {
  readonly name: 'sign-in';
  /** The canonical query of the request that goes on after signing in; null to go on to the account page. */
  readonly request: string | null;
  readonly formToken: string;
  /** The application that asks; null on the way to the account page. */
  readonly client: DescribedClient | null;
  /** What was typed before, so that a wrong password doesn't cost the login too. */
  readonly login: string;
  /** What was not done, or why the page comes; null where that needs no word. */
  readonly undone: string | null;
  readonly error: string | null;
}

/** An application, as far as users should know it. */
export interface DescribedClient {
  readonly name: string;
  /** Its own address in the web, as host name; null where none is registered. */
  readonly site: string | null;
  readonly logo: string | null;
  /** That an operator has looked at it; null for one that nobody looked at. */
  readonly reviewed: string | null;
}

/** A right that an application has or asks for, with what becomes of it. */
export interface DescribedChange {
  readonly label: string;
  readonly change: RightChange['change'];
  readonly right: DescribedRight;
  /** The limit, or the old and the new one; none for a right that spends nothing. */
  readonly limits: readonly string[];
}

/** What allowing changes where an authorization is live whose place it takes. */
export interface DescribedChanges {
  readonly replaces: string;
  readonly lastUse: string;
  readonly changed: readonly DescribedChange[];
  /** Shown on demand. */
  readonly unchanged: readonly DescribedChange[];
}

/** The pages between sign-in and the answer: the access that is asked for. */
export interface RequestPage {
  readonly request: string;
  readonly client: DescribedClient & {
    /** That it is new to this user, and nobody looked at it; null when that is not so. */
    readonly firstSeen: string | null;
  };
  readonly instanceName: string | null;
  /** Where the browser goes afterwards, as host name or scheme, for example `shop.example`. */
  readonly returnsTo: string;
  readonly userName: string;
  readonly userLogin: string;
  /** The most that it can cost, as one line. */
  readonly cost: string;
  /** What the application can spend besides, by its other connections; null for nothing. */
  readonly others: string | null;
  readonly rights: readonly DescribedRight[];
  /** What a day is; null where no limit speaks of days. */
  readonly dayNote: string | null;
  /** What it can't do, a line each. */
  readonly cannot: readonly string[];
  /** Until when the authorization is valid, for example `20 November 2029`; null for one payment and nothing else. */
  readonly validUntil: string | null;
  /** Null where there is no earlier authorization that confirming disconnects. */
  readonly changes: DescribedChanges | null;
  /** What came of the form that was sent before; null where that needs no word. */
  readonly undone: string | null;
  /** For the "Not you?" form, which signs out and comes back to this request. */
  readonly signOutToken: string;
}

export interface PaymentPasswordPage extends RequestPage {
  readonly name: 'payment-password';
  readonly formToken: string;
  /** Under which name browsers keep the payment password: another than the login, so that neither takes the other's place. */
  readonly keptAs: string;
  readonly error: string | null;
}

/** In the place of the payment password's page, for those who don't want this. */
export interface RejectPage extends Omit<RequestPage, 'undone'> {
  readonly name: 'reject';
  /** Sent back by Reject, and good for nothing else. */
  readonly decisionToken: string;
  /** The request's own page. */
  readonly back: string;
  /** What stays as it is although this is rejected; null for nothing. */
  readonly stays: string | null;
}

export interface ConsentPage extends RequestPage {
  readonly name: 'consent';
  /** Whether the payment password came before it. */
  readonly isSecondStep: boolean;
  /** That pressing Allow is enough to let money go; null where the payment password was asked, or nothing is spent. */
  readonly unguarded: string | null;
  /** The form token that Allow and Reject send back, signed over what this page shows. */
  readonly decisionToken: string;
  /** The limits that the user may lower; mostly none. */
  readonly limits: readonly LimitField[];
  /** Why the form is shown again. */
  readonly error: string | null;
}

/** A limit that the user may lower, with the field for its sum. */
export interface LimitField {
  readonly name: string;
  readonly right: DescribedRight;
  /** What is asked, and that it may be less. */
  readonly hint: string;
  /** The sum that is asked or, in a form that is shown again, what was typed. */
  readonly value: string;
  /** What its number counts, for example `RUB in any 7 days`. */
  readonly unit: string;
  /** What is wrong with it; null for nothing. */
  readonly problem: string | null;
}

/** For those who look after it that a refusal does not come again. */
export interface Refusal {
  /** Who should have the details. */
  readonly passOn: string;
  /** The contract's error code, shown as text; null where there is none. */
  readonly code: string | null;
  /** The name of the parameter that it is about; null for none. */
  readonly parameter: string | null;
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

export interface NoticePage {
  readonly name: 'notice';
  readonly title: string;
  readonly text: string;
  readonly links: readonly Link[];
  /** Null where nothing was refused. */
  readonly refusal: Refusal | null;
}
