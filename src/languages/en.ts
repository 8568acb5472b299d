import type { Reason } from '../rules/error.ts';
import type { LoweringProblem } from '../rules/lowering.ts';
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
        say`Allowing this disconnects what you allowed ${client} on ${day}: that stops at once.`,
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
    titleAfterError: 'Error: Allow access?',
    heading: 'Do you allow this?',
    leadsTo: (host: string) =>
      say`Either answer takes you back to ${host}. If you allow it, you can take it back at any time under “Connected applications”.`,
    reject: 'Reject',
    allow: 'Allow',
    /** Where the user may grant less than is asked. */
    limits: {
      heading: 'You may lower these limits',
      /** @param limit such as "At most RUB 3,000 in any 7 days" */
      hint: (limit: string) => `${limit}. You can make it less, not more.`,
      /** Above the form that is shown again. */
      undone: 'Nothing is allowed yet: correct the limits first.',
      problems: {
        not_a_sum: () => 'Type a sum in figures, such as 2500 or 2500.50.',
        too_many_decimals: () =>
          'At most two figures may follow the point. Write thousands without a comma: 2500.',
        not_above_zero: () => 'The sum must be above zero. To allow nothing, press Reject.',
        higher_than_asked: (sum: string) => `It can only be less than is asked: ${sum} at most.`,
        no_period_limit: () => 'This can’t be changed.',
      } satisfies Record<LoweringProblem, (sum: string) => string> as Record<
        LoweringProblem,
        (sum: string) => string
      >,
    },
  },

  account: {
    title: 'Connected applications',
    nav: 'Your account',
    intro:
      'These applications can act on your account without asking again. One that you disconnect stops at once.',
    /** For those who have none. */
    empty: {
      nothing: 'No application is connected to your account.',
      purpose:
        'When an application asks to pay or to look at your account, you decide that on a page of ours. What you allow appears here: what it may do, how much it may spend, and a button that ends it at once.',
    },
    emptyPage: 'What was here is not connected any more.',
    blocked: 'Blocked',
    blockedText:
      'We have blocked this application: it can’t act on your account now. If it is unblocked it can again, unless you disconnect it.',
    expiresSoon: 'Ends soon',
    connections: (count: number) => plural(count, { one: '# connection', other: '# connections' }),
    orMore: (connections: string) => `${connections} or more`,
    lastUsed: (day: string) => `last used ${day}`,
    neverUsed: 'never used',
    allowedOn: 'Allowed on',
    lastUse: 'Last used',
    never: 'Never',
    disconnect: 'Disconnect',
    /** Asked once before it is done. */
    question: (client: string) => say`Disconnect ${client}?`,
    questionOf: (client: string, instance: string) => say`Disconnect ${client}, connection ${instance}?`,
    whatStops:
      'What is listed here stops at once, payments too. To use it again, the application has to ask you anew.',
    confirm: 'Yes, disconnect',
    disconnectAll: (client: string) => say`Disconnect ${client} altogether`,
    questionAll: (client: string, connections: string) =>
      say`Disconnect ${client} altogether (${connections})?`,
    allStop: 'All its connections stop at once, also those on other pages. Other applications stay.',
    confirmAll: 'Yes, disconnect all',
    pages: 'More connections',
    newer: 'Newer',
    older: 'Older',
    disconnected: 'The application is disconnected.',
    notSignedIn:
      'Nothing was disconnected yet, because you were no longer signed in. Sign in and press Disconnect again.',
    outOfDate: 'Nothing was disconnected yet, because the page was out of date. Press Disconnect again here.',
    see: 'See your connected applications',
  },

  history: {
    title: 'History',
    intro: 'What you decided, where you signed in, and what we did. Times are in UTC.',
    empty: 'Nothing has happened yet.',
    older: 'Older',
    newest: 'Back to the newest',
    network: (network: string) => `from the network ${network}`,
    deletedClient: 'a deleted application',
    kinds: {
      approved: (client: string) => say`You allowed ${client}`,
      approved_again: (client: string) => say`You allowed ${client} anew`,
      refused: (client: string) => say`You rejected ${client}`,
      replayed: (client: string) => say`${client} used a code twice, so its access was taken back`,
      revoked_by_user: (client: string) => say`You disconnected ${client}`,
      revoked_by_application: (client: string) => say`${client} gave its access back`,
      revoked_by_operator: (client: string) => say`We disconnected ${client}`,
      signed_in: () => 'You signed in',
      payment_confirmed: (client: string) => say`The payment password was used for ${client}`,
      password_changed: () => 'You changed your password',
      payment_password_changed: () => 'You changed your payment password',
      password_guessed: () => 'Wrong passwords were tried, so signing in had to wait',
      payment_password_guessed: () => 'Wrong payment passwords were tried, so confirming had to wait',
      user_created: () => 'Your account was registered',
      user_blocked: () => 'We blocked your account',
      user_unblocked: () => 'We unblocked your account',
      user_signed_out: () => 'We signed you out everywhere',
      user_password_set: () => 'We set a new password for you',
    },
  },

  security: {
    title: 'Sign-in and security',
    sessions: 'Where you are signed in',
    sessionsIntro: 'Sign out what you don’t recognise, and change your password.',
    thisSession: 'This browser',
    device: (browser: string, system: string) => `${browser} on ${system}`,
    unknownBrowser: 'Unknown browser',
    unknownSystem: 'an unknown system',
    since: (time: string) => `Signed in ${time}`,
    seen: (time: string) => `last active ${time}`,
    signOut: 'Sign out',
    signOutOthers: 'Sign out everywhere else',
    ended: 'Signed out.',
    passwords: 'Passwords',
    changePassword: 'Change password',
    changePaymentPassword: 'Change payment password',
    setPaymentPassword: 'Set a payment password',
    lastPayment: (client: string, time: string, network: string) =>
      say`Your payment password was last used elsewhere for ${client}, on ${time} from the network ${network}. If that was not you, change both passwords.`,
    unknownNetwork: 'unknown',
    changed: 'It is changed. Every other browser is signed out.',
    undone: 'Nothing was changed yet, because the page was out of date. Try again here.',
    form: {
      oldPassword: 'Your password now',
      oldPaymentPassword: 'Your payment password now',
      newPassword: 'New password',
      newPaymentPassword: 'New payment password',
      rule: (min: number) => `At least ${min} characters. Every other browser is signed out.`,
      button: 'Change',
      back: 'Back',
      titleAfterError: (title: string) => `Error: ${title}`,
      wrong: 'That is not your password now.',
      wrongPayment: 'That is not your payment password now.',
      problems: {
        too_short: (min: number) => `The new one needs at least ${min} characters.`,
        too_long: () => 'The new one is too long.',
        control_characters: () => 'The new one has characters that can’t be typed.',
        same_as_old: () => 'The new one is the same as the old one.',
      },
    },
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
