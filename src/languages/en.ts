import { MIN_PASSWORD_CHARACTERS } from '../rules/common/limits.ts';
import type { BuiltInName } from '../rules/scope/rights.ts';
import type { Bound } from '../rules/spending/bounds.ts';
import type { LoweringProblem } from '../rules/spending/lowering.ts';
import { formatsOf, inSentence, pluralOf, say } from './formats.ts';

const plural = pluralOf('en');
const perDays = (days: number) => (days === 1 ? 'in any 24 hours' : plural(days, { other: 'in any # days' }));

const goBack = (client: string) =>
  say`Go back to ${client}. Allow this request again only if something does not work there.`;

/** English, the model of every other language. Functions take the values inside their sentence. */
export const en = {
  ownName: 'English',
  formats: formatsOf('en-GB', 'code'),
  quotes: { open: '“', close: '”' },

  layout: {
    passwordsHereOnly: (service: string, address: string) =>
      say`Enter your ${service} passwords only on pages at ${address}, never inside an application.`,
    /** At the field. */
    hereOnly: (address: string) => say`Only on pages at ${address}, never inside an application.`,
    language: 'Language',
    help: 'Help',
    back: 'Back',
    titleAfterError: (title: string) => `Error: ${title}`,
  },

  /** After "It will be able to"; the source of money has its own line. `{target}` is the shop, the account or the source. */
  rights: {
    'account-info': 'See your account number, balance and status',
    'operation-history': 'See the list of your transactions',
    'operation-details': 'See the details of each transaction',
    'incoming-transfers': 'Accept and reject transfers sent to you',
    'payment.to-pattern': 'Pay the shop {target}',
    'payment.to-account': 'Transfer money to {target}',
    'payment-shop': 'Pay any shop',
    'payment-p2p': 'Transfer money to anyone',
    'money-source': 'Paid from {target}',
  } satisfies Record<BuiltInName, string>,
  targets: { account: 'the account', phone: 'the phone number', email: 'the email address' },
  sources: { wallet: 'your wallet', card: 'your linked card' },
  limits: {
    once: (amount: string) => `One payment of exactly ${amount}`,
    perDays: (amount: string, days: number) => `At most ${amount} ${perDays(days)}`,
  },

  signIn: {
    title: (service: string) => say`Sign in to ${service}`,
    forRequest: (client: string) => say`to answer a request from ${client}`,
    allowsNothing: 'Signing in allows nothing yet.',
    forAccount: 'Sign in to see which applications are connected to your account.',
    /** At the provider. */
    elsewhere: (host: string) => say`You sign in at ${host}. If it doesn’t open by itself, go on here.`,
    login: 'Login',
    password: 'Password',
    forgot: 'Forgot your password?',
    button: 'Sign in',
    wrong: 'The login or the password is wrong.',
    sessionOver: 'Your session has ended. Sign in again to continue.',
    cookiesOff: (host: string) =>
      say`Your browser isn’t saving cookies from ${host}, and you can’t sign in without them. Allow cookies for ${host} in your browser’s settings, then sign in here again.`,
  },
  /** Next to each password field: a button, read with the word after it ("Show password"), and a hint. */
  password: { show: 'Show', hide: 'Hide', what: 'password', capsLock: 'Caps Lock is on.' },
  tooManyTries: (wait: string) =>
    `Too many attempts. Wait ${wait}, then try again. The password was not checked this time.`,
  wait: {
    seconds: (seconds: number) => plural(seconds, { one: '# second', other: '# seconds' }),
    minutes: (minutes: number) => plural(minutes, { one: '# minute', other: '# minutes' }),
  },
  signOut: {
    signedInAs: (name: string, login: string) => say`Signed in as ${name} (${login})`,
    button: 'Sign out',
    notYou: 'Not you?',
  },

  request: {
    asks: 'asks for access to your account',
    instanceName: 'Connection',
    you: 'You',
    person: (name: string, login: string) => say`${name} (${login})`,
    validUntil: 'Valid until',
    returnsTo: 'Then to',
    returnsElsewhere: 'not its website',
    spending: 'Spend your money, within these limits',
    /** Before a right, and before its application's name stands instead; null where a language has no such words. */
    lead: 'It can' as string | null,
    leadOf: (client: string) => say`${client} can`,
    /** After that, for several rights that spend. */
    spend: 'spend',
    /** The other rights of the same sentence. @param acts such as "see your account" */
    also: (acts: string) => `and ${acts}`,
    /** The meaning of `--reviewed`, as in docs/operate/commands.md. */
    reviewed: (service: string) => say`owner checked by ${service}`,
    firstSeen: (day: string) =>
      `You have not connected it before, and we have not checked who runs it. It was registered here on ${day}. Allow this only if you trust it.`,
    /** The most that a request can cost: a sum, and below it its period. */
    cost: {
      upTo: (amount: string) => `up to ${amount}`,
      exactly: (amount: string) => `exactly ${amount}`,
      once: (day: string) => `in one payment, on any day until ${day}`,
      onceEach: (day: string) => `in all, each payment only once, until ${day}`,
      until: (days: number, day: string) => `${perDays(days)}, until ${day}`,
      /** For limits whose period is longer than that. */
      inAll: (day: string) => `in all, until ${day}`,
      total: (amount: string) => `${amount} at most in all.`,
    },
    /** The spending of all other connections. @param most such as "at most RUB 3,000 in any 7 days" */
    besides: (most: string, count: number) =>
      `On top: ${most} through ${plural(count, { one: 'its other connection', other: 'its # other connections' })}.`,
    besidesMany: 'On top: what its other connections can spend. They are too many to add up here.',
    /** Before bounds such as "spend your money, see your transactions or see your passwords". */
    cannot: 'It can’t',
    bounds: {
      spend: 'spend your money',
      spend_more: 'spend more',
      see_passwords: 'see your passwords',
      open_to_others: 'pass its access on',
      pay_others: 'pay anyone else',
      transfer: 'transfer money to people',
      take_from_card: 'use your card',
      take_from_wallet: 'use your wallet',
      see_operations: 'see your transactions',
      see_balance: 'see your balance',
    } satisfies Record<Bound, string> as Record<Bound, string>,
    changes: {
      replaces: (day: string, lastUse: string | null) =>
        `This replaces the access you gave on ${day} (${lastUse === null ? 'not used yet' : `last used on ${lastUse}`}). The earlier one ends at once.`,
      none: 'The new access has the same rights and limits.',
      labels: {
        new: 'New',
        dropped: 'It will no longer be able to',
        raised: 'Raised',
        lowered: 'Lowered',
        changed: 'Changed',
        unchanged: 'As before',
      },
      unchanged: (count: number) =>
        plural(count, { one: '# more right stays as it is', other: '# more rights stay as they are' }),
      before: (limit: string) => `Before: ${inSentence(limit)}`,
      within: (days: number, before: string, after: string) =>
        `${days === 1 ? 'In any 24 hours' : plural(days, { other: 'In any # days' })}: ${after} instead of ${before}`,
    },
  },
  confirm: {
    title: 'Confirm with your payment password',
    elsewhere: (host: string) => say`Confirm at ${host}`,
    label: 'Payment password',
    button: 'Confirm',
    wrong: 'The payment password is wrong. It is not the one you sign in with.',
  },
  receipt: {
    titles: { allow: 'Allowed', reject: 'Rejected' },
    reject: (client: string) => say`${client} gets nothing from this request.`,
    onward: (client: string) => say`Back to ${client}`,
  },
  consent: {
    title: (client: string) => `Allow ${client} access?`,
    leadsTo: (page: string) =>
      say`You can end this any time in ${page}. Payments already made are not undone.`,
    reject: 'Reject',
    allow: 'Allow',
    needsPassword: 'You can allow this only with a payment password, and you have none yet.',
    limits: {
      label: (currency: string, days: number) => `Your limit, ${currency} ${perDays(days)}`,
      hint: 'you can lower it',
      undone: 'Your answer was not accepted: correct the limits first.',
      problems: {
        not_a_sum: () => 'Enter an amount in digits, such as 2500 or 2500.50.',
        too_many_decimals: () =>
          'Use at most two digits after the decimal point. Write thousands without a comma: 2500.',
        not_above_zero: () => 'The amount must be more than zero. To allow nothing, press “Reject”.',
        higher_than_asked: (sum: string) => `The most you can allow here is ${sum}.`,
      } satisfies Record<LoweringProblem, (sum: string) => string>,
    },
  },
  account: {
    title: 'Connected applications',
    tab: 'Applications',
    yours: 'Your account',
    intro:
      'These applications can use your account as you allowed, without asking you each time. Disconnect one, and it loses its access at once.',
    empty: 'No application is connected to your account.',
    purpose:
      'When an application wants to pay from your account or see what is in it, we ask you first, on our own page. What you allow is listed here: what the application may do, how much it may spend, and a button that stops it at once.',
    counted: (all: number, spending: number) =>
      `${plural(all, { other: '# applications' })}, ${spending === 0 ? 'none' : spending} can spend your money`,
    search: 'Find an application by its name',
    find: 'Find',
    notFound: 'No connected application has this in its name.',
    all: 'All applications',
    blocked: 'Blocked',
    blockedText:
      'We have blocked this application: it can’t act on your account now. If we unblock it, it gets its access back, unless you disconnect it first.',
    expiresSoon: 'Ends soon',
    connections: (count: number) => plural(count, { one: '# connection', other: '# connections' }),
    lastUsed: (day: string | null) => (day === null ? 'never used' : `last used ${day}`),
    spending: {
      label: 'Can spend',
      nothing: 'Nothing',
      nothingNow: 'Nothing while it is blocked',
      once: (amount: string) => `At most one payment of exactly ${amount}`,
      can: (most: string) => `Can spend: ${most}`,
      togetherOnce: (amount: string) => `at most ${amount} in all, in one-time payments`,
      some: 'Can spend your money',
      none: 'Can’t spend your money',
      blocked: 'Can’t spend your money now',
    },
    unnamed: 'Unnamed connection',
    allowedOn: 'Allowed on',
    lastUse: 'Last used',
    never: 'Never',
    disconnect: 'Disconnect',
    question: (client: string) => say`Disconnect ${client}?`,
    questionOf: (client: string, connection: string) => say`Disconnect ${client} (${connection})?`,
    whatStops:
      'This access ends at once and allows no new payments. Payments already made are not undone. To get it back, the application has to ask you again.',
    confirm: 'Yes, disconnect',
    disconnectAll: (client: string) => say`Disconnect ${client} completely`,
    questionAll: (client: string, connections: string) =>
      say`Disconnect ${client} completely (${connections})?`,
    allStop:
      'All its connections end at once, including those on other pages. Payments already made are not undone. Other applications aren’t affected.',
    confirmAll: 'Yes, disconnect all',
    older: 'Show more',
    disconnected: (what: string) => say`Disconnected: ${what}`,
    stillConnected: 'The list shows what is still connected.',
    titleUndone: 'Not disconnected',
    see: 'See your connected applications',
  },

  history: {
    title: 'History',
    intro: (zone: string) => `What you decided, where you signed in, and what we did. Times are in ${zone}.`,
    empty: 'Nothing has happened yet.',
    older: 'Older',
    newest: 'Back to the newest',
    /** Read out, and next to an icon. */
    warning: 'Check this:',
    rights: 'What you allowed',
    address: 'IP address',
    confirmedBy: {
      payment_password: ', confirmed by payment password',
      provider: ', confirmed on the sign-in page',
    },
    deletedClient: 'a deleted application',
    kinds: {
      approved: (client: string) => say`You gave ${client} access`,
      approved_again: (client: string) => say`You renewed ${client}’s access`,
      rejected: (client: string) => say`You rejected a request from ${client}`,
      replayed: (client: string) =>
        say`A one-time code for ${client} was used twice, so we ended the access that it gave`,
      revoked_by_user: (client: string) => say`You disconnected ${client}`,
      revoked_by_application: (client: string) => say`${client} gave up its access`,
      revoked_by_operator: (client: string) => say`We disconnected ${client}`,
      signed_in: () => 'You signed in',
      signed_out: () => 'You signed out',
      session_ended: () => 'You signed out another browser',
      other_sessions_ended: () => 'You signed out every other browser',
      password_changed: () => 'You changed your password',
      payment_password_changed: () => 'You changed your payment password',
      password_guessed: () => 'A wrong password was entered several times, so sign-in was paused for a while',
      payment_password_guessed: () =>
        'A wrong payment password was entered several times, so further attempts were paused for a while',
      user_created: () => 'Your account was created',
      user_imported: () => 'Your account came here from our earlier service',
      imported: (client: string) => say`Your connection to ${client} came here from our earlier service`,
      user_updated: () => 'We changed your login, your name or your number with us',
      user_blocked: () => 'We blocked your account',
      user_unblocked: () => 'We unblocked your account',
      user_signed_out: () => 'We signed you out everywhere',
      user_password_set: () => 'We set a new password for you',
    },
  },

  /** Shown until the user has seen it: the event, and the steps against an attacker. */
  warnings: {
    heading: 'Please check this',
    /** Where the text of the history does not say enough. */
    events: {
      payment_confirmed: (client: string) =>
        say`Your payment password was used in another browser, for ${client}`,
      provider_confirmed: (client: string) =>
        say`A payment right was confirmed in another browser, for ${client}`,
      payment_password_guessed: () =>
        'A wrong payment password was entered several times in a browser signed in as you',
      signed_in: (_client: string, device: string) => `New sign-in with ${device}`,
    },
    question: 'Was this you?',
    /** Instead of it, answered by `yes.did`. */
    questions: {
      replayed: 'Did you connect it yourself? Then connect it again from inside the application.',
      user_password_set: 'Did you ask us to? Then choose a password of your own.',
    },
    unknownNetwork: 'unknown IP address',
    times: (times: number, first: string) => `${times} times since ${first}`,
    on: (time: string, isLast: boolean) => (isLast ? `last on ${time}` : time),
    all: 'Do you recognise all of these?',
    others: (count: number) => plural(count, { one: '# more alert', other: '# more alerts' }),
    more: 'There is more in your history.',
    yes: { one: 'Yes, this was me', did: 'Yes, I did', all: 'Yes, all of them' },
    no: 'No, secure my account',
  },

  stop: {
    title: 'Stop everything',
    why: 'If you think that somebody else can use your account, stop everything, then change your passwords.',
    what: 'This disconnects all applications at once and signs out every other browser. Payments already made are not undone. This browser stays signed in, so that you can change your passwords next.',
    titleDone: 'Everything is stopped',
    titleUndone: 'Some access is still open',
    done: 'Everything is stopped: no application is connected, and no other browser is signed in. Now change your passwords.',
    undone: 'Not everything is stopped yet. Press “Stop everything” again.',
  },

  security: {
    title: 'Sign-in and security',
    tab: 'Security',
    sessions: 'Where you are signed in',
    sessionsIntro: 'If you don’t recognise a browser here, sign it out and change your password.',
    thisSession: 'This browser',
    device: (browser: string | null, system: string | null) =>
      `${browser ?? 'Unknown browser'} on ${system ?? 'an unknown system'}`,
    alike: (device: string, number: string) => `${device} (${number})`,
    today: 'today',
    seen: (time: string) => `Active ${time}`,
    since: (time: string) => `signed in ${time}`,
    signOut: 'Sign out',
    signOutOthers: 'Sign out everywhere else',
    ended: 'Done. You are still signed in here.',
    passwords: 'Passwords',
    noPaymentPassword: 'You have no payment password: pressing “Allow” is enough to let an application pay.',
    changePassword: 'Change password',
    changePaymentPassword: 'Change payment password',
    setPaymentPassword: 'Set a payment password',
    changed:
      'Your new password is saved. You are signed out in every other browser. Applications are still connected: check that you know them all.',
    oldPassword: 'Current password',
    oldPaymentPassword: 'Current payment password',
    newPassword: 'New password',
    newPaymentPassword: 'New payment password',
    rule: `At least ${MIN_PASSWORD_CHARACTERS} characters. Saving it signs you out in every other browser.`,
    save: 'Save',
    oldIsWrong: 'The current password is wrong.',
    problems: {
      too_short: `The new password needs at least ${MIN_PASSWORD_CHARACTERS} characters.`,
      too_long: 'The new password is too long.',
      control_characters: 'The new password has characters that aren’t allowed.',
      same_as_old: 'The new password is the same as the current one.',
      same_as_other:
        'Your password and your payment password must be different, so that nobody who learns one of them has both.',
      too_common:
        'This password is one of the first that anyone would try. Choose a less common one, such as several words in a row.',
      own_name:
        'The new password is too similar to your login, your name or the name of this service. Choose one that can’t be guessed from them.',
    },
  },

  /** The outcome of the previous form, on the next page. */
  outcomes: {
    atSignIn: {
      signed_out: 'You are signed out.',
      stale: 'Nothing has been changed yet: you were no longer signed in. Sign in and try again.',
      not_signed_in: 'You are not signed in yet: that page had expired. Please sign in again.',
      not_decided:
        'You were no longer signed in, so your answer was not accepted. Sign in and you will see the request again.',
    },
    on: {
      stale: () => 'Nothing has been changed yet: the page was out of date. Try again here.',
      not_signed_in: (_client: string, name: string, login: string) =>
        say`The sign-in page was out of date, so nobody new was signed in. You are still signed in as ${name} (${login}).`,
      not_decided: (_client: string, name: string, login: string) =>
        say`That page was out of date, so your answer was not accepted. You are signed in as ${name} (${login}). This is the request as it stands now: read it and answer here.`,
      not_signed_out: (_client: string, name: string, login: string) =>
        say`That page was out of date, so you are still signed in as ${name} (${login}).`,
      allowed: (client: string) =>
        say`You have just allowed this request, and we sent the answer to ${client}. ` + goBack(client),
      spent: (client: string) => `You already allowed this: a page can answer only once. ${goBack(client)}`,
      not_rejected: (client: string) =>
        say`You already allowed this, so “Reject” on that page changed nothing. To end what you allowed, disconnect ${client} under “Connected applications”.`,
      too_many_decisions: () =>
        'There were too many decisions in a short time, so the last one was not carried out: nothing was allowed, rejected or disconnected. Try again in a minute.',
      /** "Stop everything" signs out before it disconnects. */
      not_stopped: () =>
        'Every other browser is signed out, but your applications are not disconnected yet: there were too many decisions in a short time. Press “Stop everything” again in a minute.',
      rejected: (client: string) =>
        say`You have just rejected this request, and we sent that answer to ${client}. If that was not what you meant, answer again here; otherwise close this page.`,
    },
  },

  notices: {
    seeRequest: 'See the request again',
    newTab: 'Open it in a new tab',
    embedded: {
      title: 'Open this in your browser',
      text: 'The application tried to show this page inside its own. Open it in a new tab, so that you can see who gets your password.',
    },
    full: {
      title: 'Too many connections for one application',
      text: (client: string) =>
        say`${client} has as many connections to your account as one application may have, so nothing was allowed. Disconnect one that you no longer need, then come back to the request.`,
    },
    notSignedIn: 'Nothing was allowed. Try again, or close this page.',
  },

  errors: {
    titles: {
      invalid_request: 'This link from the application doesn’t work',
      invalid_scope: 'The application asked for something that isn’t possible',
      unauthorized_client: 'This application is not allowed to ask for access',
      no_longer_possible: 'Access can’t be given now',
      not_signed_in: 'The sign-in is not complete',
      not_confirmed: 'Not confirmed',
    },
    /** Faults of an authorization request. Its sender is unknown, so no sentence blames an application. */
    reasons: {
      unknown_application:
        'The application in this request is not registered with us, or is not allowed to ask for access.',
      no_longer_possible: 'The application or your account was blocked a moment ago.',
      wrong_return_address: 'The return address is not the one registered for this application.',
      missing_parameter: 'A part of the request is missing.',
      wrong_parameter: 'A part of the request has a value that isn’t allowed, or is there twice.',
      too_long: 'The request is too long.',
      no_rights: 'The request does not say which rights it asks for.',
      unreadable_rights: 'The request names a right that does not exist here.',
      right_not_allowed: 'The request names a right that this application is not allowed to ask for.',
      unclear_target:
        'The request names a shop or an account with spaces, invisible characters or several alphabets in one word.',
      contradiction: 'The rights that the request asks for contradict each other.',
      above_ceiling: 'The request asks to spend more than this application is allowed to ask for.',
      sign_in_lost: 'The sign-in took too long, began in another browser, or was already used.',
      sign_in_no_cookies:
        'Your browser blocks the cookies of this site, or you began in another browser. Allow cookies for this site.',
      sign_in_wait: 'Too many sign-ins failed from your network. Signing in works again in a minute.',
      sign_in_failed: 'The sign-in page could not finish your sign-in. Perhaps it was open for too long.',
      sign_in_other_user: 'You confirmed with a different account from the one you are signed in with here.',
      sign_in_refused: 'You can’t sign in here with this account.',
      unreadable: 'The request can’t be read.',
    },
    causes: {
      notFound: { title: 'Page not found', text: 'There is nothing at this address.' },
      notAllowed: {
        title: 'This page can’t be opened directly',
        text: 'It can only be reached by a button on another of our pages. Nothing was done.',
      },
      broken: {
        title: 'This request can’t be read',
        text: 'It arrived incomplete, too long or too slowly. Nothing was done.',
      },
      ourFault: { title: 'Something went wrong', text: 'We could not finish this.' },
      unavailable: { title: 'We can’t answer just now', text: 'Our service is temporarily unavailable.' },
      providerAway: { title: 'You can’t sign in just now', text: 'The sign-in page does not answer.' },
    },
    /** After a button, if the answer was 500 or 503. */
    pressed: {
      signIn: 'You are not signed in yet.',
      decision:
        'Your answer most likely did not get through. Open the request again and answer there. “Connected applications” shows what has access now.',
      disconnect:
        'Some connections may still be active. “Connected applications” shows what is still connected.',
      stop: 'Perhaps not everything has been stopped. Open “Connected applications” and press “Stop everything” again.',
      signOut:
        'You may still be signed in. To check, open “Connected applications”: if it asks for no password, you are still signed in.',
      sessions: 'Perhaps some browsers are still signed in. “Sign-in and security” shows which.',
      passwords: 'Your password may not have changed: try the new one, then the old one.',
    },
    faults: {
      application: 'You did nothing wrong: the request itself is faulty.',
      address: 'The address was mistyped, or the link that led here is wrong.',
      between: 'Something went wrong on the way from your browser to us; it isn’t your fault.',
      ours: 'The fault is ours, not yours.',
      none: 'You did nothing wrong.',
    },
    unchanged: 'Nothing on your account changed, and nothing was paid.',
    anApplication: 'the application',
    next: {
      application: (client: string) =>
        say`Go back to ${client} and start again from there. If you did not come from ${client}, close this page.`,
      /** An attacker’s link may name the application. */
      doubt: (client: string) =>
        say`If you did not come from ${client}, close this page. If you did, start again from there.`,
      /** If no step is known to help. */
      leave: () => 'Close this page. If you came from an application, tell its support team.',
      again: () => 'Wait a moment and try again.',
      signIn: () => 'Sign in again.',
      account: () => 'Go on to “Connected applications”, or close this page.',
      support: () => 'Support can tell you why. You can close this page.',
    },
    tryAgain: 'Try again',
    ifAgain: 'If it happens again',
    passOn: (client: string) => say`Pass this on to the support team of ${client}.`,
    tellUs: 'Give support this reference.',
    error: 'Error',
    parameter: 'Parameter',
    reference: 'Reference',
    details: 'Details for developers',
  },
};

export type Texts = typeof en;
