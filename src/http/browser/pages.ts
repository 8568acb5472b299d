import type { AuthorizedClient, Cursor, LiveAuthorization } from '../../flows/authorizations.ts';
import type { RightChange } from '../../rules/difference.ts';
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
  /** What was not done for want of a session; null when nothing was asked. */
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
  /** That it is new to this user, and nobody looked at it; null when that is not so. */
  readonly firstSeen: string | null;
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
  readonly client: DescribedClient;
  readonly instanceName: string | null;
  /** Where the browser goes afterwards, as host name or scheme, for example `shop.example`. */
  readonly returnsTo: string;
  readonly userName: string;
  readonly userLogin: string;
  /** The most that it can cost, as one line. */
  readonly cost: string;
  readonly rights: readonly DescribedRight[];
  /** What a day is; null where no limit speaks of days. */
  readonly dayNote: string | null;
  /** What it can't do, a line each. */
  readonly cannot: readonly string[];
  /** Until when the authorization is valid, for example `20 November 2029`; null for one payment and nothing else. */
  readonly validUntil: string | null;
  /** Null where there is no earlier authorization that confirming disconnects. */
  readonly changes: DescribedChanges | null;
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

export interface ConsentPage extends RequestPage {
  readonly name: 'consent';
  /** The form token that Allow and Reject send back, signed over what this page shows. */
  readonly decisionToken: string;
}

export interface ErrorPage {
  readonly name: 'error';
  readonly title: string;
  readonly text: string;
  /** The contract's error code, shown as text; null when the fault is ours. */
  readonly code: string | null;
  /** Names the log line that says more. */
  readonly reference: string;
}

export interface NoticePage {
  readonly name: 'notice';
  readonly title: string;
  readonly text: string;
  readonly link: { readonly href: string; readonly text: string } | null;
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
export interface Authorization
  extends Pick<
    LiveAuthorization,
    'grantId' | 'clientName' | 'isBlocked' | 'instanceName' | 'disconnectToken'
  > {
  readonly confirmedOn: string;
  readonly validUntil: string;
  readonly rights: readonly DescribedRight[];
}

/** An application with all its authorizations, and how many there are, for example `37`. */
export interface AuthorizedApplication
  extends Pick<AuthorizedClient, 'clientId' | 'clientName' | 'disconnectAllToken'> {
  readonly total: string;
}
