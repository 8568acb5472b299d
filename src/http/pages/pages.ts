import type { Part } from '../../flows/account/authorizations.ts';
import type { Choice } from '../../flows/authorize/decisionForms.ts';
import type { Link } from '../describe/describe.ts';
import type * as account from '../describe/describeAccount.ts';
import type { describeClient, describeGranted, describeRequest } from '../describe/describeRequest.ts';
import type { errorPage, refusalOf } from './deadEnds.ts';

interface AnsweredForm {
  /** The outcome of the previous form, or the reason for the page. */
  readonly undone: string | null;
  readonly error: string | null;
}

/** A signed-in user's own pages, with the same head. */
type OwnPage = Pick<ReturnType<typeof describeRequest>, 'userName' | 'userLogin' | 'signOutToken'>;

/** Shown once at the top after a form. */
interface Banner {
  readonly done: string | null;
  readonly ways: readonly Link[];
  readonly undone: string | null;
  readonly warnings: ReturnType<typeof account.describeWarnings> | null;
}

/** The fields of each template of `views/`. Texts are ready to read, and templates escape them; null omits a text. */
interface Pages {
  'sign-in': AnsweredForm & {
    /** The canonical query of the request to continue after signing in; null for the account page. */
    readonly request: string | null;
    readonly formToken: string;
    readonly client: ReturnType<typeof describeClient> | null;
    /** Typed before, so that a wrong password doesn't clear the login too. */
    readonly login: string;
  };
  consent: ReturnType<typeof describeRequest> &
    AnsweredForm & {
      /** Signed over the contents of this page. */
      readonly decisionToken: string;
    };
  confirm: ReturnType<typeof describeGranted> & {
    readonly error: string | null;
    readonly request: string;
    readonly signOutToken: string;
    /** Signed as decided; sent with the payment password. */
    readonly decision: string;
    /** The address of the request's own page; `request` is its canonical query. */
    readonly back: string;
    /** Browsers keep the payment password under this name, beside the login's. Null: the provider confirms. */
    readonly keptAs: string | null;
  };
  receipt: ReturnType<typeof describeGranted> & {
    readonly choice: Choice;
    /** The address that leads to the application; null if its code is used or expired. */
    readonly onward: string | null;
  };
  error: ReturnType<typeof errorPage>;
  notice: {
    readonly title: string;
    readonly text: string;
    readonly links: readonly Link[];
    readonly refusal: ReturnType<typeof refusalOf> | null;
  };
  account: OwnPage &
    Banner & {
      /** Window title: begins with the result of the last form, which screen readers read first. */
      readonly title: string;
      /** Those without connections lead to them. Several others are folded. */
      readonly applications: readonly ReturnType<typeof account.describeApplication>[];
      /** How many there are, and can spend. */
      readonly all: number;
      readonly spending: number;
      readonly isSearchable: boolean;
      /** What was asked for: forms lead back to it. */
      readonly part: Part;
      readonly older: string | null;
    };
  history: OwnPage & {
    readonly intro: string;
    readonly events: readonly ReturnType<typeof account.describeEvent>[];
    /** The newest events are on another page. */
    readonly isLater: boolean;
    readonly older: string | null;
  };
  security: OwnPage &
    Banner & {
      readonly sessions: ReturnType<typeof account.describeSessions>;
      /** Null if the user is signed in only here. */
      readonly endOthersToken: string | null;
      readonly passwords: readonly Link[];
      /** Allow alone lets an application pay. */
      readonly isUnguarded: boolean;
    };
  stop: OwnPage & Pick<Banner, 'undone'> & { readonly formToken: string };
  password: OwnPage & {
    readonly which: 'password' | 'payment-password';
    /** Password managers keep the changed password under this name. */
    readonly keptAs: string;
    /** The password to type: `password` also if there is no payment password yet. */
    readonly asked: 'password' | 'payment-password';
    readonly formToken: string;
    readonly error: string | null;
    readonly wrong: 'old' | 'new';
  };
}

/** A page by the name of its template; without a name any of them. */
export type Page<Name extends keyof Pages = keyof Pages> = {
  [Each in Name]: { readonly name: Each } & Pages[Each];
}[Name];
