// Written from en.json by `node scripts/texts.mjs`.

/** What makes a text of its values. */
type With<Names extends string, Numbers extends string = never> = (
  values: { readonly [Name in Names]: string } & { readonly [Name in Numbers]: number },
) => string;

export interface Sentences {
  readonly ownName: string;
  readonly quotes: {
    readonly open: string;
    readonly close: string;
  };
  readonly layout: {
    readonly passwordsHereOnly: With<'service' | 'address'>;
    readonly hereOnly: With<'address'>;
    readonly language: string;
    readonly help: string;
    readonly back: string;
    readonly titleAfterError: With<'title'>;
  };
  readonly rights: {
    readonly 'account-info': string;
    readonly 'operation-history': string;
    readonly 'operation-details': string;
    readonly 'incoming-transfers': string;
    readonly 'payment.to-pattern': With<'target'>;
    readonly 'payment.to-account': With<'target'>;
    readonly 'payment-shop': string;
    readonly 'payment-p2p': string;
    readonly 'money-source': With<'target'>;
  };
  readonly targets: {
    readonly account: string;
    readonly phone: string;
    readonly email: string;
  };
  readonly sources: {
    readonly wallet: string;
    readonly card: string;
  };
  readonly limits: {
    readonly once: With<'amount'>;
    readonly perDays: With<'amount', 'days'>;
    readonly largest: With<'amount'>;
    readonly withLargest: With<'limit' | 'amount'>;
    readonly withEnd: With<'limit' | 'day'>;
  };
  readonly signIn: {
    readonly title: With<'service'>;
    readonly forRequest: With<'client'>;
    readonly allowsNothing: string;
    readonly forAccount: string;
    readonly elsewhere: With<'host'>;
    readonly login: string;
    readonly password: string;
    readonly forgot: string;
    readonly button: string;
    readonly wrong: string;
    readonly sessionOver: string;
    readonly cookiesOff: With<'host'>;
  };
  readonly password: {
    readonly show: string;
    readonly hide: string;
    readonly what: string;
    readonly capsLock: string;
  };
  readonly tooManyTries: With<'wait'>;
  readonly wait: {
    readonly seconds: With<never, 'seconds'>;
    readonly minutes: With<never, 'minutes'>;
  };
  readonly signOut: {
    readonly signedInAs: With<'name' | 'login'>;
    readonly button: string;
    readonly notYou: string;
  };
  readonly request: {
    readonly asks: string;
    readonly instanceName: string;
    readonly you: string;
    readonly person: With<'name' | 'login'>;
    readonly validUntil: string;
    readonly returnsTo: string;
    readonly returnsElsewhere: string;
    readonly spending: string;
    readonly lead: string;
    readonly leadOf: With<'client'>;
    readonly spend: string;
    readonly also: With<'acts'>;
    readonly reviewed: With<'service'>;
    readonly firstSeen: With<'day'>;
    readonly cost: {
      readonly upTo: With<'amount'>;
      readonly exactly: With<'amount'>;
      readonly once: With<'day'>;
      readonly onceEach: With<'day'>;
      readonly until: With<'day', 'days'>;
      readonly inAll: With<'day'>;
      readonly total: With<'amount'>;
    };
    readonly besides: With<'most', 'count'>;
    readonly besidesMany: string;
    readonly cannot: string;
    readonly bounds: {
      readonly spend: string;
      readonly spend_more: string;
      readonly see_passwords: string;
      readonly open_to_others: string;
      readonly pay_others: string;
      readonly transfer: string;
      readonly take_from_card: string;
      readonly take_from_wallet: string;
      readonly see_operations: string;
      readonly see_balance: string;
    };
    readonly changes: {
      readonly replaces: With<'day' | 'lastUse'>;
      readonly none: string;
      readonly labels: {
        readonly new: string;
        readonly dropped: string;
        readonly raised: string;
        readonly lowered: string;
        readonly changed: string;
        readonly unchanged: string;
      };
      readonly unchanged: With<never, 'count'>;
      readonly before: With<'limit'>;
      readonly within: With<'after' | 'before', 'days'>;
      readonly used: With<'amount'>;
    };
  };
  readonly confirm: {
    readonly title: string;
    readonly elsewhere: With<'host'>;
    readonly label: string;
    readonly button: string;
    readonly wrong: string;
  };
  readonly receipt: {
    readonly titles: {
      readonly allow: string;
      readonly reject: string;
    };
    readonly reject: With<'client'>;
    readonly onward: With<'client'>;
    readonly number: string;
    readonly confirmed: string;
    readonly confirmedBy: {
      readonly payment_password: string;
      readonly provider: string;
      readonly nothing: string;
    };
    readonly from: string;
    readonly now: string;
    readonly connected: string;
    readonly ended: With<'time' | 'text'>;
    readonly next: string;
    readonly over: string;
    readonly support: string;
    readonly notYou: string;
  };
  readonly consent: {
    readonly title: With<'client'>;
    readonly leadsTo: With<'page'>;
    readonly reject: string;
    readonly allow: string;
    readonly needsPassword: string;
    readonly limits: {
      readonly label: With<'currency', 'days'>;
      readonly hint: string;
      readonly largest: With<'currency'>;
      readonly ends: string;
      readonly earlier: With<'day', 'months'>;
      readonly undone: string;
      readonly problems: {
        readonly not_a_sum: string;
        readonly too_many_decimals: string;
        readonly not_above_zero: string;
        readonly higher_than_asked: With<'amount'>;
      };
    };
  };
  readonly account: {
    readonly title: string;
    readonly tab: string;
    readonly yours: string;
    readonly intro: string;
    readonly empty: string;
    readonly purpose: string;
    readonly counted: With<never, 'all' | 'spending'>;
    readonly search: string;
    readonly find: string;
    readonly notFound: string;
    readonly all: string;
    readonly blocked: string;
    readonly blockedText: string;
    readonly expiresSoon: string;
    readonly connections: With<never, 'count'>;
    readonly lastUsed: With<'day'>;
    readonly spent: {
      readonly used: With<'amount' | 'limit'>;
      readonly free: With<'day'>;
      readonly partFree: With<'amount' | 'day'>;
    };
    readonly spending: {
      readonly label: string;
      readonly nothing: string;
      readonly nothingNow: string;
      readonly once: With<'amount'>;
      readonly can: With<'most'>;
      readonly togetherOnce: With<'amount'>;
      readonly some: string;
      readonly none: string;
      readonly blocked: string;
    };
    readonly unnamed: string;
    readonly allowedOn: string;
    readonly lastUse: string;
    readonly never: string;
    readonly disconnect: string;
    readonly question: With<'client'>;
    readonly questionOf: With<'client' | 'connection'>;
    readonly whatStops: string;
    readonly confirm: string;
    readonly disconnectAll: With<'client'>;
    readonly questionAll: With<'client' | 'connections'>;
    readonly allStop: string;
    readonly confirmAll: string;
    readonly older: string;
    readonly disconnected: With<'what'>;
    readonly stillConnected: string;
    readonly titleUndone: string;
    readonly see: string;
  };
  readonly history: {
    readonly title: string;
    readonly intro: With<'zone'>;
    readonly empty: string;
    readonly older: string;
    readonly newest: string;
    readonly receipt: string;
    readonly warning: string;
    readonly address: string;
    readonly confirmedBy: {
      readonly payment_password: string;
      readonly provider: string;
    };
    readonly deletedClient: string;
    readonly kinds: {
      readonly approved: With<'client'>;
      readonly approved_again: With<'client'>;
      readonly rejected: With<'client'>;
      readonly replayed: With<'client'>;
      readonly revoked_by_user: With<'client'>;
      readonly revoked_by_application: With<'client'>;
      readonly revoked_by_operator: With<'client'>;
      readonly lowered_by_operator: With<'client'>;
      readonly expired: With<'client'>;
      readonly signed_in: string;
      readonly signed_out: string;
      readonly session_ended: string;
      readonly other_sessions_ended: string;
      readonly password_changed: string;
      readonly payment_password_changed: string;
      readonly password_guessed: string;
      readonly payment_password_guessed: string;
      readonly user_created: string;
      readonly user_imported: string;
      readonly imported: With<'client'>;
      readonly user_updated: string;
      readonly user_blocked: string;
      readonly user_unblocked: string;
      readonly user_signed_out: string;
      readonly user_password_set: string;
    };
  };
  readonly warnings: {
    readonly heading: string;
    readonly events: {
      readonly payment_confirmed: With<'client'>;
      readonly provider_confirmed: With<'client'>;
      readonly payment_password_guessed: string;
      readonly signed_in: With<'device'>;
    };
    readonly question: string;
    readonly questions: {
      readonly replayed: string;
      readonly user_password_set: string;
    };
    readonly unknownNetwork: string;
    readonly times: With<'day', 'times'>;
    readonly lastOn: With<'time'>;
    readonly all: string;
    readonly others: With<never, 'count'>;
    readonly more: string;
    readonly yes: {
      readonly one: string;
      readonly did: string;
      readonly all: string;
    };
    readonly no: string;
  };
  readonly stop: {
    readonly title: string;
    readonly question: string;
    readonly signOut: string;
    readonly keeps: string;
    readonly why: string;
    readonly what: string;
    readonly titleDone: string;
    readonly titleUndone: string;
    readonly done: string;
    readonly undone: string;
  };
  readonly security: {
    readonly title: string;
    readonly tab: string;
    readonly sessions: string;
    readonly sessionsIntro: string;
    readonly thisSession: string;
    readonly device: With<'browser' | 'system'>;
    readonly alike: With<'device' | 'number'>;
    readonly today: string;
    readonly seen: With<'time'>;
    readonly since: With<'time'>;
    readonly signOut: string;
    readonly signOutOthers: string;
    readonly ended: string;
    readonly passwords: string;
    readonly noPaymentPassword: string;
    readonly changePassword: string;
    readonly changePaymentPassword: string;
    readonly setPaymentPassword: string;
    readonly changed: string;
    readonly oldPassword: string;
    readonly oldPaymentPassword: string;
    readonly newPassword: string;
    readonly newPaymentPassword: string;
    readonly rule: string;
    readonly save: string;
    readonly oldIsWrong: string;
    readonly problems: {
      readonly too_short: string;
      readonly too_long: string;
      readonly control_characters: string;
      readonly same_as_old: string;
      readonly same_as_other: string;
      readonly too_common: string;
      readonly own_name: string;
    };
  };
  readonly outcomes: {
    readonly atSignIn: {
      readonly signed_out: string;
      readonly stale: string;
      readonly not_signed_in: string;
      readonly not_decided: string;
    };
    readonly on: {
      readonly stale: string;
      readonly not_signed_in: With<'name' | 'login'>;
      readonly not_decided: With<'name' | 'login'>;
      readonly not_signed_out: With<'name' | 'login'>;
      readonly allowed: With<'client'>;
      readonly spent: With<'client'>;
      readonly not_rejected: With<'client'>;
      readonly too_many_decisions: string;
      readonly not_stopped: string;
      readonly rejected: With<'client'>;
    };
  };
  readonly notices: {
    readonly seeRequest: string;
    readonly newTab: string;
    readonly embedded: {
      readonly title: string;
      readonly text: string;
    };
    readonly full: {
      readonly title: string;
      readonly text: With<'client'>;
    };
    readonly notSignedIn: string;
  };
  readonly errors: {
    readonly titles: {
      readonly invalid_request: string;
      readonly invalid_scope: string;
      readonly unauthorized_client: string;
      readonly no_longer_possible: string;
      readonly not_signed_in: string;
      readonly not_confirmed: string;
    };
    readonly reasons: {
      readonly unknown_application: string;
      readonly no_longer_possible: string;
      readonly wrong_return_address: string;
      readonly missing_parameter: string;
      readonly wrong_parameter: string;
      readonly too_long: string;
      readonly no_rights: string;
      readonly unreadable_rights: string;
      readonly right_not_allowed: string;
      readonly unclear_target: string;
      readonly contradiction: string;
      readonly ended_right: string;
      readonly right_outlives_token: string;
      readonly above_ceiling: string;
      readonly sign_in_lost: string;
      readonly sign_in_no_cookies: string;
      readonly sign_in_wait: string;
      readonly sign_in_failed: string;
      readonly sign_in_other_user: string;
      readonly sign_in_refused: string;
      readonly unreadable: string;
    };
    readonly causes: {
      readonly notFound: {
        readonly title: string;
        readonly text: string;
      };
      readonly notAllowed: {
        readonly title: string;
        readonly text: string;
      };
      readonly broken: {
        readonly title: string;
        readonly text: string;
      };
      readonly ourFault: {
        readonly title: string;
        readonly text: string;
      };
      readonly unavailable: {
        readonly title: string;
        readonly text: string;
      };
      readonly providerAway: {
        readonly title: string;
        readonly text: string;
      };
    };
    readonly pressed: {
      readonly signIn: string;
      readonly decision: string;
      readonly disconnect: string;
      readonly stop: string;
      readonly signOut: string;
      readonly sessions: string;
      readonly passwords: string;
    };
    readonly faults: {
      readonly application: string;
      readonly address: string;
      readonly between: string;
      readonly ours: string;
      readonly none: string;
    };
    readonly unchanged: string;
    readonly anApplication: string;
    readonly next: {
      readonly application: With<'client'>;
      readonly doubt: With<'client'>;
      readonly leave: string;
      readonly again: string;
      readonly signIn: string;
      readonly account: string;
      readonly support: string;
    };
    readonly tryAgain: string;
    readonly ifAgain: string;
    readonly passOn: With<'client'>;
    readonly tellUs: string;
    readonly error: string;
    readonly parameter: string;
    readonly reference: string;
    readonly details: string;
  };
  readonly tooManyRequests: {
    readonly title: string;
    readonly text: string;
  };
  readonly messages: {
    readonly allowed: {
      readonly subject: With<'client' | 'spends'>;
      readonly text: With<'time' | 'confirmed' | 'acts' | 'day' | 'total' | 'spends' | 'number' | 'link'>;
    };
    readonly replaced: {
      readonly subject: With<'client' | 'changed'>;
      readonly text: With<
        'time' | 'confirmed' | 'added' | 'dropped' | 'acts' | 'day' | 'total' | 'spends' | 'number' | 'link'
      >;
    };
    readonly new_browser: {
      readonly subject: With<'device'>;
      readonly text: With<'time' | 'network' | 'link'>;
    };
    readonly guessed: {
      readonly subject: With<'which'>;
      readonly text: With<'time' | 'network' | 'link'>;
    };
    readonly password_changed: {
      readonly subject: With<'which'>;
      readonly text: With<'time' | 'network' | 'link'>;
    };
    readonly ends_soon: {
      readonly subject: With<'client' | 'part' | 'day'>;
      readonly text: With<'acts' | 'part' | 'client'>;
    };
    readonly lowered: {
      readonly subject: With<'client'>;
      readonly text: With<'time' | 'dropped' | 'acts'>;
    };
    readonly right_ended: {
      readonly subject: With<'client'>;
      readonly text: With<'day' | 'acts'>;
    };
    readonly ended: {
      readonly subject: With<'client'>;
      readonly text: With<'time' | 'by'>;
    };
    readonly password_set: {
      readonly subject: string;
      readonly text: With<'link'>;
    };
  };
  readonly support: {
    readonly title: string;
    readonly token: string;
    readonly signInAt: With<'host'>;
    readonly orToken: string;
    readonly open: string;
    readonly kept: With<never, 'hours'>;
    readonly exposed: string;
    readonly elsewhere: string;
    readonly stale: string;
    readonly refused: string;
    readonly signedInAs: With<'name' | 'role'>;
    readonly lists: string;
    readonly whose: string;
    readonly hint: string;
    readonly find: string;
    readonly nothing: With<never, 'days'>;
    readonly more: string;
    readonly none: string;
    readonly next: string;
    readonly filter: string;
    readonly apply: string;
    readonly recent: string;
    readonly acts: string;
    readonly confirms: string;
    readonly loses: string;
    readonly why: string;
    readonly cancel: string;
    readonly done: With<'title'>;
    readonly saw: string;
    readonly sawNothing: string;
    readonly say: string;
    readonly developers: string;
    readonly once: string;
    readonly choose: string;
    readonly verbs: {
      readonly create: string;
      readonly add: string;
      readonly update: string;
      readonly block: string;
      readonly unblock: string;
      readonly 'sign-out': string;
      readonly 'set-password': string;
      readonly delete: string;
      readonly retire: string;
      readonly revoke: string;
      readonly lower: string;
      readonly resume: string;
      readonly show: string;
      readonly 'revoke-all': string;
    };
    readonly names: {
      readonly clients: string;
      readonly users: string;
      readonly resources: string;
      readonly operators: string;
      readonly grants: string;
      readonly audit: string;
      readonly secrets: string;
      readonly refusals: string;
      readonly tokens: string;
      readonly notifys: string;
      readonly true: string;
      readonly false: string;
      readonly count: string;
      readonly at: string;
      readonly outcome: string;
      readonly login: string;
      readonly name: string;
      readonly status: string;
      readonly state: string;
      readonly scope: string;
      readonly right: string;
      readonly used: string;
      readonly free_again: string;
      readonly spent: string;
      readonly confirmed_at: string;
      readonly issued_at: string;
      readonly expires_at: string;
      readonly created_at: string;
      readonly retired_at: string;
      readonly last_used_on: string;
      readonly client_name: string;
      readonly client_id: string;
      readonly instance_name: string;
      readonly address: string;
      readonly reference: string;
      readonly operator: string;
      readonly detail: string;
      readonly user_id: string;
      readonly grant_id: string;
      readonly external_id: string;
      readonly wait_seconds: string;
      readonly role: string;
      readonly remedy: string;
      readonly rule: string;
      readonly error: string;
      readonly path: string;
      readonly active: string;
      readonly blocked: string;
      readonly revoked: string;
      readonly expired: string;
      readonly retired: string;
      readonly approved: string;
      readonly approved_again: string;
      readonly rejected: string;
      readonly exchanged: string;
      readonly replayed: string;
      readonly revoked_by_user: string;
      readonly revoked_by_application: string;
      readonly revoked_by_operator: string;
      readonly lowered_by_operator: string;
      readonly ends_soon: string;
      readonly signed_in: string;
      readonly signed_out: string;
      readonly password_guessed: string;
      readonly payment_password_guessed: string;
      readonly password_changed: string;
      readonly payment_password_changed: string;
      readonly user_created: string;
      readonly user_updated: string;
      readonly user_blocked: string;
      readonly user_unblocked: string;
      readonly user_signed_out: string;
      readonly user_password_set: string;
      readonly user_looked_at: string;
    };
  };
}
