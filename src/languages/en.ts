import type { Reason } from '../rules/error.ts';
import { formatsOf, pluralOf, say } from './formats.ts';

const plural = pluralOf('en');

/** English, and the model of every other language: functions take what stands inside their sentence. */
export const en = {
  /** As its speakers call it. */
  ownName: 'English',
  formats: formatsOf('en-GB', 'code'),

  layout: {
    /** @param address the host that the address bar shows */
    passwordsHereOnly: (service: string, address: string) =>
      say`Type your ${service} passwords only where the address bar shows ${address}, never in an application.`,
    language: 'Language',
    help: 'Help',
    account: 'Connected applications',
  },

  /** After "Demo Shop will be able to". `{target}` stands for the shop or account that the right names. */
  rights: {
    'account-info': 'See your account number, balance and status',
    'operation-history': 'See the list of your operations',
    'operation-details': 'See the details of an operation',
    'incoming-transfers': 'Accept and reject transfers sent to you',
    'payment.to-pattern': 'Pay the shop {target}',
    'payment.to-account': 'Transfer money to {target}',
    'payment-shop': 'Pay any shop',
    'payment-p2p': 'Transfer money to anyone',
    'money-source': 'Take the money from {target}',
  },
  targets: { account: 'the account', phone: 'the phone number', email: 'the email address' },
  sources: { wallet: 'your wallet', card: 'your linked card' },
  limits: {
    once: (amount: string) => `One payment of exactly ${amount}`,
    perDays: (amount: string, days: number) =>
      days === 1 ? `At most ${amount} a day` : plural(days, { other: `At most ${amount} in any # days` }),
  },

  signIn: {
    title: 'Sign in',
    titleAfterError: 'Error: Sign in',
    forRequest: (client: string) =>
      say`${client} asks for access to your account. Sign in to see what it asks for; nothing is allowed yet.`,
    forAccount: 'See the applications that are connected to your account.',
    login: 'Login',
    password: 'Password',
    button: 'Sign in',
    wrong: 'The login or the password is wrong.',
  },
  /** Beside each field for a password: a button, read with the word behind it ("Show password"), and a hint. */
  password: { show: 'Show', hide: 'Hide', what: 'password', capsLock: 'Caps Lock is on.' },
  /** Beside the password forms. */
  tooManyTries: (wait: string) => `Too many tries. Wait ${wait} and try again.`,
  wait: {
    seconds: (seconds: number) => plural(seconds, { one: 'a second', other: '# seconds' }),
    minutes: (minutes: number) => plural(minutes, { one: '# minute', other: '# minutes' }),
  },
  signOut: {
    signedInAs: (name: string, login: string) => say`Signed in as ${name} (${login})`,
    button: 'Sign out',
    notYou: (name: string) => say`Not ${name}?`,
    asSomeoneElse: 'Sign in as someone else',
  },

  request: {
    client: (client: string) => say`${client}`,
    asks: 'asks for access to your account',
    instanceName: 'Connection name',
    account: 'Your account',
    person: (name: string, login: string) => say`${name} (${login})`,
    validUntil: 'Valid until',
    returnsTo: 'Returns to',
    willBeAble: (client: string) => say`${client} will be able to`,
    spending: 'Spend your money, within these limits',
    reviewed: (service: string) => say`Checked by ${service}`,
    firstSeen: (client: string, service: string) =>
      say`You have never connected ${client} before, and ${service} has not checked it. Allow it only if you trust it.`,
    /** The most that a request can cost, as one line. */
    cost: {
      heading: 'The most it can cost',
      none: 'Nothing. It can’t spend your money.',
      once: (amount: string) => `One payment of exactly ${amount}, and nothing more`,
      /** @param limit such as "At most RUB 3,000 in any 7 days" */
      until: (limit: string, day: string) => `${limit}, and nothing after ${day}`,
    },
    /** What a day of a limit is. */
    dayNote: 'A day means any 24 hours in a row: no limit starts afresh at midnight.',
    cannot: {
      heading: (client: string) => say`${client} can’t`,
      seePasswords: 'See your passwords',
      spend: 'Spend your money',
      spendMore: 'Spend more than these limits',
      passOn: 'Pass this permission on to others',
    },
    changes: {
      heading: 'What changes',
      replaces: (client: string, day: string) =>
        say`You already allowed ${client} access on ${day}. If you allow this request, it takes the place of that one, which stops at once.`,
      lastUsed: (day: string) => `The earlier access was last used on ${day}.`,
      neverUsed: 'The earlier access has not been used yet.',
      none: 'Its rights and limits stay as they are.',
      labels: {
        new: 'New',
        dropped: 'No longer',
        raised: 'More',
        lowered: 'Less',
        changed: 'Different',
        unchanged: 'As before',
      },
      unchanged: (count: number) =>
        plural(count, { one: '# right stays as it is', other: '# rights stay as they are' }),
      before: (limit: string) => `Before: ${limit}`,
      after: (limit: string) => `After: ${limit}`,
    },
  },
  paymentPassword: {
    title: 'Payment password',
    titleAfterError: 'Error: Payment password',
    heading: 'Enter your payment password',
    why: (client: string) =>
      say`It confirms that it’s you. You allow or reject the request on the next page; ${client} never sees your passwords.`,
    label: 'Payment password',
    button: 'Continue',
    wrong: 'The payment password is wrong.',
  },
  consent: {
    title: 'Allow access?',
    heading: 'Do you allow this?',
    leadsTo: (host: string) =>
      say`Either answer takes you back to ${host}. If you allow it, you can take it back at any time under “Connected applications”.`,
    reject: 'Reject',
    allow: 'Allow',
  },

  account: {
    title: 'Connected applications',
    intro:
      'These applications can act on your account without asking again. One that you disconnect stops at once.',
    introWithBlocked:
      'These applications can act on your account without asking again, except where it says that one is blocked. One that you disconnect stops at once.',
    empty:
      'No application is connected to your account. Those that you allow appear here, and here you disconnect them.',
    emptyPage: 'What was here is not connected any more.',
    blocked:
      'We have blocked it: it can’t act on your account now. If it is unblocked it can again, unless you disconnect it.',
    allowedOn: 'Allowed on',
    disconnect: 'Disconnect',
    pages: 'More connections',
    newer: 'Newer',
    older: 'Older',
    allHeading: 'Disconnect an application altogether',
    allIntro: 'Each of its connections stops at once.',
    allIntroWithPages: 'Each of its connections stops at once, also those on other pages.',
    disconnectAll: (client: string, total: string) => say`Disconnect all of ${client} (${total})`,
    orMore: (total: string) => `${total} or more`,
    disconnected: 'The application is disconnected.',
    notSignedIn:
      'Nothing was disconnected yet, because you were no longer signed in. Sign in and press Disconnect again.',
    outOfDate: 'Nothing was disconnected yet, because the page was out of date. Press Disconnect again here.',
    see: 'See your connected applications',
  },

  notices: {
    seeRequest: 'See the request again',
    embedded: {
      title: 'Open this in your browser',
      text: 'This page was asked for inside another page or by a script. So that you can see whom you give your password to, it opens only as a page of its own: go back to the application and open it in your browser.',
    },
    full: {
      title: 'Too many connections of one application',
      text: (client: string) =>
        say`${client} has as many connections to your account as one application may have. Disconnect one that you no longer need. Then go back to the application and start again.`,
    },
    tooMany: {
      title: 'Wait a minute',
      text: 'You have decided very much in a short time, so this was not done: nothing was allowed, rejected or disconnected. Wait a minute and try again.',
    },
    allowed: {
      title: 'You already allowed this',
      /** After pressing Allow again. */
      spent:
        'The application got its answer from this page before. If it does not work there, go back to the application and start again.',
      /** After pressing Reject. */
      allowed:
        'You pressed Allow on this page before, so rejecting it now would change nothing. To take the authorization back, disconnect the application.',
    },
  },

  errors: {
    titles: {
      invalid_request: 'This request can’t be carried out',
      invalid_scope: 'The application asked for rights we can’t give',
      unauthorized_client: 'This application may not ask you',
      invalid_grant: 'This code can’t be used',
    },
    /** What is wrong with an authorization request. */
    reasons: {
      unknown_application: () =>
        'The application that sent you here is not registered with us, or may not ask for access.',
      no_longer_possible: () => 'This authorization is not possible any more.',
      wrong_return_address: () =>
        'The address that you would return to is not the one that the application is registered with (parameter redirect_uri).',
      missing_parameter: (parameter) => `The parameter ${parameter} is missing.`,
      doubled_parameter: (parameter) => `The parameter ${parameter} was sent more than once.`,
      undecodable_parameter: (parameter) => `The parameter ${parameter} can’t be read.`,
      wrong_parameter: (parameter) => `The parameter ${parameter} has a value that it may not have.`,
      sent_in_two_places: () => 'The parameters were sent in the body and in the URL at once.',
      too_long: () => 'The request is too long.',
      no_rights: () => 'It does not say which rights it asks for (parameter scope).',
      unreadable_rights: () => 'It names a right that does not exist here (parameter scope).',
      right_not_offered: () => 'It names a right that is not offered here (parameter scope).',
      right_not_allowed: () => 'It names a right that this application may not ask for (parameter scope).',
      unclear_target: () =>
        'It names a shop or an account with spaces or invisible characters (parameter scope).',
      contradiction: () => 'The rights that it asks for contradict each other (parameter scope).',
      above_ceiling: () => 'It asks to spend more than this application may ask for (parameter scope).',
      unreadable: () => 'The request can’t be read.',
    } satisfies Record<Reason, (parameter: string) => string> as Record<
      Reason,
      (parameter: string) => string
    >,
    causes: {
      notFound: { title: 'There is no such page', text: 'There is nothing at this address.' },
      unreadableAddress: { title: 'There is no such page', text: 'The address can’t be read.' },
      notAllowed: {
        title: 'This page can’t be opened like that',
        text: 'It is not meant to be opened in this way.',
      },
      tooManyFailures: {
        title: 'Too many failures',
        text: 'Too many requests from this address failed. Find out why before you try again.',
      },
      unreadable: { title: 'This request can’t be read', text: 'It is too long, or is not HTTP.' },
      late: { title: 'This request can’t be read', text: 'It took too long.' },
      ourFault: { title: 'Something went wrong', text: 'The fault is ours. Please try again.' },
      unavailable: { title: 'We can’t answer just now', text: 'Please try again in a moment.' },
    },
    nothingChanged:
      'Nothing on your account was changed and nothing was paid. Go back to the application and start again from there.',
    nothingPaid:
      'Nothing was paid. Wait a moment, then go back to the application and start again from there.',
    again: 'If it happens again',
    passOn: 'Pass these details on to the people behind the application.',
    tellUs: 'Tell our support this reference.',
    error: 'Error',
    reference: 'Reference',
  },
};

export type Texts = typeof en;
