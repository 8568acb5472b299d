import type { Cursor } from '../../flows/authorizations.ts';
import type { DescribedRight } from './describe.ts';
import type { Link } from './links.ts';

/** The words of a page that said something was done. */
interface Said {
  /** Said once at the top after something was done. */
  readonly done: string | null;
  /** Where to go on after that. */
  readonly ways: readonly Link[];
  /** Said once at the top after something could not be done. */
  readonly undone: string | null;
}

/** What the user is warned of. */
export interface WarningsBox {
  readonly items: readonly { readonly text: string; readonly ways: readonly Link[] }[];
  /** Whether the history has others. */
  readonly hasMore: boolean;
  readonly newest: string;
  readonly seenToken: string;
  /** What the user says who has seen them. */
  readonly button: string;
}

/** The pages of a signed-in user, with the same head. */
interface OwnPage {
  readonly userName: string;
  readonly userLogin: string;
  readonly signOutToken: string;
}

export interface AccountPage extends OwnPage, Said {
  readonly name: 'account';
  /** Of the browser's window: what was done, or could not be, since a screen reader begins with that. */
  readonly title: string;
  /** With live authorizations: those that can spend, then the rest, the newest first. */
  readonly applications: readonly ConnectedApplication[];
  /** Where this page begins, for its forms, which lead back to it. */
  readonly place: Cursor;
  /** The pages of newer and older authorizations; null where there are none. */
  readonly newer: string | null;
  readonly older: string | null;
  /** Null for none. */
  readonly warnings: WarningsBox | null;
  readonly stopToken: string;
}

/** An application that can act on the user's account, or could if it were not blocked. */
export interface ConnectedApplication {
  readonly clientId: string;
  readonly name: string;
  readonly logo: string | null;
  readonly isBlocked: boolean;
  readonly canSpend: boolean;
  /** The most that all its connections together can spend, as a line. */
  readonly spending: string;
  /** How many connections it has on all pages, for example `2 connections`. */
  readonly total: string;
  /** When one of those on this page was last used. */
  readonly lastUse: string;
  readonly expiresSoon: boolean;
  readonly isOpen: boolean;
  readonly connections: readonly Connection[];
  /** For disconnecting all of them; null for a single one. */
  readonly all: { readonly fullName: string; readonly question: string; readonly formToken: string } | null;
}

/** An authorization of an application. */
export interface Connection {
  readonly grantId: string;
  /** Its name, or that it has none beside others; null for the only one where that has none. */
  readonly heading: string | null;
  /** Tells it from every other one on the page, for example `Demo Shop, anna-tablet`. */
  readonly fullName: string;
  readonly instanceName: string | null;
  /** The most that it can spend, for example `At most RUB 3,000 in any 7 days`; null where its application has no other. */
  readonly spending: string | null;
  readonly allowedOn: string;
  readonly validUntil: string;
  readonly expiresSoon: boolean;
  readonly lastUse: string;
  readonly rights: readonly DescribedRight[];
  /** Names what is disconnected. */
  readonly question: string;
  readonly formToken: string;
}

export interface HistoryPage extends OwnPage {
  readonly name: 'history';
  /** What these events are, and in which time zone their times. */
  readonly intro: string;
  readonly events: readonly DescribedEvent[];
  /** Whether the newest events are on another page. */
  readonly isLater: boolean;
  /** The path of older events; null where there are none. */
  readonly older: string | null;
}

/** Something that a user did, or that happened to the account. */
export interface DescribedEvent {
  readonly time: string;
  readonly text: string;
  /** Whether it could have been somebody else. */
  readonly isWarning: boolean;
  readonly instanceName: string | null;
  /** What was allowed; null where nothing was, or it can't be told. */
  readonly rights: readonly DescribedRight[] | null;
  readonly network: string | null;
}

export interface SecurityPage extends OwnPage, Said {
  readonly name: 'security';
  readonly sessions: readonly DescribedSession[];
  /** Null when the user is signed in here only. */
  readonly endOthersToken: string | null;
  readonly warnings: WarningsBox | null;
  readonly hasPaymentPassword: boolean;
}

/** A browser in which the user is signed in. */
export interface DescribedSession {
  readonly sessionId: string;
  readonly device: string;
  readonly network: string | null;
  readonly since: string;
  readonly seen: string;
  /** Null for the one that shows the page. */
  readonly endToken: string | null;
}

export interface PasswordPage extends OwnPage {
  readonly name: 'password';
  readonly which: 'password' | 'payment-password';
  /** The name under which password managers keep the one that is changed. */
  readonly keptAs: string;
  /** Which one has to be typed: the password also where there is no payment password yet. */
  readonly asked: 'password' | 'payment-password';
  readonly formToken: string;
  readonly minCharacters: number;
  readonly error: string | null;
  /** Which field the error is about. */
  readonly wrong: 'old' | 'new';
}
