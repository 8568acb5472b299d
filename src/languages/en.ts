import type { Reason } from '../rules/error.ts';
import type { LoweringProblem } from '../rules/lowering.ts';
import { formatsOf, pluralOf, say } from './formats.ts';

const plural = pluralOf('en');

type OutcomeText = (client: string, name: string, login: string) => string;
const outcomeTexts = <Outcome extends string>(texts: Record<Outcome, OutcomeText>) => texts;

/** English, and the model of every other language: functions take what stands inside their sentence. */
export const en = {
  /** As its speakers call it. */
  ownName: 'English',
  formats: formatsOf('en-GB', 'code'),

  layout: {
    /** @param address the host that the address bar shows */
    passwordsHereOnly: (service: string, address: string) =>
      say`Type your ${service} passwords only where the address bar shows ${address}, never in any application.`,
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
    forAccount: 'Sign in to see which applications are connected to your account.',
    login: 'Login',
    password: 'Password',
    button: 'Sign in',
    wrong: 'The login or the password is wrong.',
    sessionOver:
      'You were signed in before, but for your safety that ends after a while. Sign in again to go on.',
    cookiesOff: (host: string) =>
      say`Your browser keeps no cookies of ${host}, and without them nobody can be signed in. Allow cookies for ${host} in the settings of your browser, then sign in here again.`,
  },
  /** Beside each field for a password: a button, read with the word behind it ("Show password"), and a hint. */
  password: { show: 'Show', hide: 'Hide', what: 'password', capsLock: 'Caps Lock is on.' },
  /** Beside the password forms. @param until the time of day, for a wait of minutes */
  tooManyTries: (wait: string, until: string | null) =>
    `Too many attempts. Wait ${wait}${until === null ? '' : `, until ${until}`}, then try again. The password was not checked this time.`,
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
    asks: 'asks for access to your account',
    instanceName: 'Connection name',
    account: 'Your account',
    person: (name: string, login: string) => say`${name} (${login})`,
    validUntil: 'Valid until',
    returnsTo: 'Returns to',
    willBeAble: (client: string) => say`${client} will be able to`,
    spending: 'Spend your money, within these limits',
    reviewed: (service: string) => say`Checked by ${service}`,
    firstSeen: (client: string) =>
      say`You have never connected ${client} before, and we have not checked it. Allow it only if you trust it.`,
    /** The most that a request can cost, as one line. */
    cost: {
      heading: 'How much it can spend',
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
      say`Either answer takes you back to ${host}. If you allow it, you can disconnect it at any time under “Connected applications”.`,
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
      'These applications can use your account without asking again, each as you allowed it. One that you disconnect stops at once.',
    /** For those who have none. */
    empty: {
      nothing: 'No application is connected to your account.',
      purpose:
        'When an application asks to pay or to look at your account, you decide that on a page of ours. What you allow appears here: what it may do, how much it may spend, and a button that ends it at once.',
    },
    emptyPage: 'What was here is not connected any more.',
    blocked: 'Blocked',
    blockedText:
      'We have blocked this application: it can’t act on your account now. If we unblock it, it gets its access back, unless you disconnect it first.',
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
    disconnected: 'Disconnected. What you disconnected stopped at once.',
    notSignedIn:
      'Nothing was disconnected yet, because you were no longer signed in. Sign in and press Disconnect again.',
    outOfDate: 'Nothing was disconnected yet, because the page was out of date. Press Disconnect again here.',
    see: 'See your connected applications',
  },

  history: {
    title: 'History',
    intro: (zone: string) => `What you decided, where you signed in, and what we did. Times are in ${zone}.`,
    empty: 'Nothing has happened yet.',
    older: 'Older',
    newest: 'Back to the newest',
    network: (network: string) => `from the network ${network}`,
    deletedClient: 'a deleted application',
    kinds: {
      approved: (client: string) => say`You allowed ${client}`,
      approved_again: (client: string) => say`You allowed ${client} anew`,
      refused: (client: string) => say`You rejected ${client}`,
      replayed: (client: string) =>
        say`A one-time code for ${client} was used twice, so we took the access back`,
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
      say`In another session your payment password was last used for ${client}, on ${time} (network: ${network}). If that was not you, disconnect ${client} and change both passwords.`,
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

  /** What came of the form that a browser sent last, on the page that it sees next. */
  outcomes: {
    /** To sign in again, still nobody being signed in. */
    not_signed_in:
      'You are not signed in yet: the page was out of date, or your browser had forgotten it. Please sign in once more.',
    /** Answers that came when nobody was signed in any more. */
    sessionOver:
      'You were no longer signed in, so your answer was not accepted. Sign in and you will see the request again.',
    /** On the pages of a request, by who is signed in. */
    on: outcomeTexts({
      not_signed_in: (_client, name, login) =>
        say`The page on which you signed in was out of date. You are still signed in as ${name} (${login}).`,
      not_confirmed: (_client, name, login) =>
        say`That page was out of date, so your payment password was not checked. You are signed in as ${name} (${login}). Go on here.`,
      not_decided: (_client, name, login) =>
        say`That page was out of date, so your answer was not accepted. You are signed in as ${name} (${login}). This is the request as it stands now: read it and answer here.`,
      not_signed_out: (_client, name, login) =>
        say`That page was out of date, so you are still signed in as ${name} (${login}).`,
      allowed: (client) =>
        say`You allowed this request a moment ago, and ${client} has its answer. Go back to ${client}. Allow it once more only if it does not work there.`,
      rejected: (client) =>
        say`You rejected this request a moment ago, and ${client} knows. If that was not what you meant, answer again here; otherwise close this page.`,
    }),
  },

  notices: {
    seeRequest: 'See the request again',
    newTab: 'Open it in a new tab',
    embedded: {
      title: 'Open this in your browser',
      text: 'The page that brought you here tried to show ours inside itself, or to load it by a script. You did nothing wrong. Our pages open only on their own, so that you can see who gets your password. Open this one in a new tab, or go back to the application and open it in your browser.',
    },
    full: {
      title: 'Too many connections of one application',
      text: (client: string) =>
        say`${client} has as many connections to your account as one application may have, so nothing was allowed. Disconnect one that you no longer need, then come back to the request.`,
    },
    tooMany: {
      title: 'Please wait a minute',
      text: 'That was a lot of decisions in a short time, so the last one was not carried out: nothing was allowed, rejected or disconnected. Try again in a minute.',
    },
    allowed: {
      title: 'You already allowed this',
      /** After pressing Allow again. */
      spent: (client: string) =>
        say`${client} already has your answer from this page, and a page can answer only once. Go back to ${client}. If something doesn’t work there, start again from there.`,
      /** After pressing Reject. */
      allowed: (client: string) =>
        say`You pressed Allow on this page before, so rejecting it now would change nothing. To take back what you allowed, disconnect ${client} under “Connected applications”.`,
    },
  },

  errors: {
    titles: {
      invalid_request: 'This request can’t be carried out',
      invalid_scope: 'Something is wrong with the rights in this request',
      unauthorized_client: 'This application may not ask for access',
      invalid_grant: 'This code can’t be used',
    },
    /** What is wrong with an authorization request. Nobody knows who made it, so nothing here blames an application. */
    reasons: {
      unknown_application:
        'The application in this request is not registered with us, or may not ask for access.',
      no_longer_possible: 'The application or your account was blocked a moment ago.',
      wrong_return_address:
        'The address that you would return to is not the one that the application is registered with.',
      missing_parameter: 'A part of the request is missing.',
      doubled_parameter: 'A part of the request is there more than once.',
      undecodable_parameter: 'A part of the request can’t be read.',
      wrong_parameter: 'A part of the request has a value that isn’t allowed.',
      sent_in_two_places: 'The request came twice at once.',
      too_long: 'The request is too long.',
      no_rights: 'The request does not say which rights it asks for.',
      unreadable_rights: 'The request names a right that does not exist here.',
      right_not_offered: 'The request names a right that is not offered here.',
      right_not_allowed: 'The request names a right that this application may not ask for.',
      unclear_target: 'The request names a shop or an account with spaces or invisible characters.',
      contradiction: 'The rights that the request asks for contradict each other.',
      above_ceiling: 'The request asks to spend more than this application may ask for.',
      unreadable: 'The request can’t be read.',
    } satisfies Record<Reason, string> as Record<Reason, string>,
    /** What else ends on an error page. */
    causes: {
      notFound: { title: 'There is no such page', text: 'There is nothing at this address.' },
      unreadableAddress: { title: 'There is no such page', text: 'This address can’t be read.' },
      notAllowed: {
        title: 'This page can’t be opened like that',
        text: 'It only follows a button on another of our pages, and has nothing to show by itself. Nothing was done.',
      },
      brokenForm: {
        title: 'This form can’t be read',
        text: 'The form arrived incomplete or too long. Nothing was done.',
      },
      brokenHttp: {
        title: 'This request can’t be read',
        text: 'What came from your browser is too long or can’t be understood.',
      },
      late: { title: 'This request can’t be read', text: 'It took too long to arrive.' },
      ourFault: { title: 'Something went wrong', text: 'We could not finish this.' },
      unavailable: { title: 'We can’t answer just now', text: 'Our service is temporarily unavailable.' },
    },
    /** What that means after pressing a button, where 500 or 503 was the answer. */
    pressed: {
      signIn: 'You are not signed in yet.',
      decision:
        'Your answer most likely did not get through. Open the request again: if you did allow it, it will say so.',
      disconnect:
        'Perhaps not everything is disconnected yet. “Connected applications” shows what is still connected.',
      signOut:
        'You may still be signed in. If “Connected applications” opens without asking for your password, you are.',
      sessions: 'Perhaps not every session has ended yet. “Sign-in and security” shows which are left.',
      passwords: 'Your password may not have changed: try the new one first, then the old one.',
    },
    faults: {
      application: (client: string | null) =>
        client === null
          ? 'You did nothing wrong: the request itself is not in order.'
          : say`You did nothing wrong: the request names ${client}, but it is not in order.`,
      address: () => 'The address was mistyped, or the link that led here is wrong.',
      between: () => 'Something went wrong on the way from your browser to us; it isn’t your fault.',
      ours: () => 'The fault is ours, not yours.',
      nobodys: () => 'You did nothing wrong.',
    },
    unchanged: 'Nothing on your account was changed and nothing was paid.',
    next: {
      application: (client: string | null) =>
        client === null
          ? 'Go back to the application and start again from there. If you don’t know which one it was, close this page.'
          : say`Go back to ${client} and start again from there. If you did not come from ${client}, close this page.`,
      /** Where the request may have been made by somebody who only names the application. */
      doubt: (client: string | null) =>
        client === null
          ? 'If you don’t know which application you came from, close this page.'
          : say`If you did not come from ${client}, close this page. If you did, start again from there.`,
      again: () => 'Wait a moment and try again.',
      account: () => 'Go on to “Connected applications”, or close this page.',
      support: () => 'Our support can tell you why. You can close this page.',
    },
    tryAgain: 'Try again',
    ifAgain: 'If it happens again',
    passOn: (client: string | null) =>
      client === null
        ? 'Pass these details on to the people behind the application.'
        : say`Pass these details on to the people behind ${client}.`,
    tellUs: 'Tell our support this reference.',
    error: 'Error',
    parameter: 'Parameter',
    reference: 'Reference',
    /** In trial mode; what unfolds is in English. */
    rule: 'The exact rule, for developers',
  },

  /** The demo application of trial mode. Between backquotes stand names of the protocol, which are the same in every language. */
  demo: {
    layout: {
      what: 'an invented shop to try things out',
      language: 'Language',
      begin: 'Start',
      story: 'What happened',
      account: 'Your connected applications',
      code: 'All that the shop knows of the protocol is one file. Copy it: `examples/oauthClient.mjs`',
    },
    home: {
      title: 'See how an application gets access to money',
      lead: 'This shop wants to use your wallet. Connect it, and it shows you each message that passes on the way: what your browser carries, what the servers tell each other, and what a limit really does. Nothing here is real, and no money moves.',
      users: 'Who you can be',
      usersNote: (server: string) =>
        say`Type these on the pages of ${server} only. A real shop never sees a password; this one may show them, because the trial made them up for you.`,
      name: 'Name',
      login: 'Login',
      password: 'Password',
      paymentPassword: 'Payment password',
      none: 'none',
      plan: 'Five minutes',
      lessons: {
        connect: 'Connect the shop, and read the messages one by one.',
        spend: 'Let it pay twice: the second time the limit says no.',
        again: 'Have it ask again, for less: the earlier token stops at once.',
        steal: 'Send the code a second time, as a thief would.',
        leave: 'Disconnect the shop under “Connected applications”, and let it try to pay again.',
      },
    },
    compose: {
      heading: 'What should the shop ask for?',
      see: 'See',
      pay: 'Pay',
      from: 'Take the money from',
      rights: {
        'account-info': 'Number, balance and status',
        'operation-history': 'List of transactions',
        'operation-details': 'Details of each transaction',
        'incoming-transfers': 'Incoming transfers',
        'payment-shop': 'Any shop',
        'payment.to-pattern': 'One shop',
        'payment-p2p': 'Anyone',
        'payment.to-account': 'One person',
      },
      sources: { wallet: 'Wallet', card: 'Linked card' },
      types: { shop: 'Shop', account: 'Account', phone: 'Phone number', email: 'Email address' },
      shop: 'Shop number',
      payee: 'Payee',
      type: 'Kind',
      sum: 'At most',
      days: 'within (days)',
      limitNote:
        'Without days: one payment of exactly this amount. Without an amount: the server sets its usual limit.',
      contradictions: 'Some of these don’t go together. Try it: the server says so.',
      scope: 'This is sent as `scope`',
      scopeNote: 'You can write your own here.',
      instance: 'Connection name (optional)',
      instanceNote:
        'Another name adds a connection with its own limits. With the same name, or again without one, the new connection replaces the earlier one.',
      atOnce: 'Exchange the code as soon as it comes, as a real shop does',
      atOnceNote: 'Untick this to watch a code expire.',
      compose: 'Update `scope`',
      ask: 'Connect my account',
    },
    request: {
      title: 'Your browser is about to send this',
      lead: 'The shop has filled in a form. Your browser posts it to the server; there you sign in, read and decide.',
      send: 'Send it',
      tamper: 'Or break it first',
      tamperLead: 'Anybody could change what a browser carries. See who notices.',
      tamperings: { state: 'Change `state`', redirect_uri: 'Change `redirect_uri`' },
      tampered: {
        state:
          '`state` is changed. The server doesn’t know what it should be and sends it back as it came. The shop has to notice.',
        redirect_uri:
          '`redirect_uri` is not the registered one. The server shows an error page and sends nobody there. Then come back with your browser’s Back button.',
      },
      undo: 'Undo the change',
    },
    ways: {
      browserToServer: 'From your browser to the server',
      browserToShop: 'From the server through your browser to the shop',
      shopToServer: 'From the shop to the server',
      shopToPayments: 'From the shop to the payment API',
      paymentsToServer: 'From the payment API to the server',
    },
    blocks: { sent: 'Request', received: 'Answer' },
    messages: {
      request: {
        title: 'The request',
        lesson:
          'Your browser carries it, not the shop. It names no user: whoever signs in decides. `state` ties the answer to this browser, `code_challenge` ties the code to this shop.',
      },
      code: {
        title: 'You allowed it: back with a code',
        lesson:
          'All that travels through the browser is a `code`. It is good once, for less than a minute, and only together with the shop’s secret and its `code_verifier`. The `state` is the one that was sent, so the shop takes the answer.',
      },
      rejected: {
        title: 'You rejected the request',
        lesson:
          'The shop learns `access_denied` and no more. Nothing changed: a token it got before still works.',
      },
      failed: {
        title: 'The answer is an error',
        lesson: 'There is no code in it. The shop says so and may ask again.',
      },
      unasked: {
        title: 'The shop drops this answer',
        lesson:
          'Its `state` is not the one that the shop gave this browser. The code could come from an attacker who wants to connect you to the wrong account. So the shop doesn’t exchange it.',
      },
      token: {
        title: 'The exchange: a token for the code',
        lesson:
          'The servers talk directly, and your browser never has the token. The secret shows who is asking, and `code_verifier` that it is the one who started. The token works for three years: a real shop keeps it encrypted.',
      },
      refused: { title: 'The server refuses', lesson: 'The shop gets nothing for it.' },
      replayed: {
        title: 'The same code again',
        lesson:
          'A used code that comes again looks stolen. The server refuses it and, as long as the code could still be good, takes back the token that it gave for it. Look at what comes next.',
      },
      unanswered: {
        title: 'No answer',
        lesson: 'Nobody knows what came of it. The shop starts over; the payment API lets nothing through.',
      },
      allows: {
        title: 'What the token allows',
        lesson:
          'The payment API asks before each payment, with a secret of its own. `rights` has each right with its limit as data, so nobody has to take `scope` apart.',
      },
      inactive: {
        title: 'The token doesn’t work any more',
        lesson:
          '`active` is false, and not a word more: expired, revoked and unknown look the same. From now on nothing is paid.',
      },
      annulled: {
        title: 'The earlier token has ended',
        lesson:
          'There is one permission for each application and connection name. The earlier one ended when you pressed Allow, before the new code was exchanged.',
      },
      stillWorks: {
        title: 'The earlier token still works',
        lesson:
          'It has another connection name. So both are good, each with its own limits, and “Connected applications” shows both.',
      },
      givenBack: {
        title: 'The shop gives the token back',
        lesson:
          'The answer is the same whether or not there was such a token. You can do the same without the shop, under “Connected applications”.',
      },
      paid: {
        title: 'Paid',
        lesson: 'The payment API writes the amount down before any money moves, and counts it by `grant_id`.',
      },
      notPaid: { title: 'Not paid', lesson: 'Nothing was written down, so nothing counts toward the limit.' },
    },
    /** Why a token was not given, by its `error`. */
    errors: {
      invalid_grant:
        'The code is unknown, expired, used or annulled, or `code_verifier` is wrong. The server doesn’t say which, so that a thief learns nothing; its operator finds the exact rule in the log. The shop asks again from the start.',
      invalid_request:
        'A parameter is missing or doubled, or `redirect_uri` is not the one of the request. The code stays good.',
      unauthorized_client: 'The shop is unknown or blocked, or its secret is wrong.',
      temporarily_unavailable:
        'The server can’t answer just now. Wait as long as it says, then try once more.',
    },
    verdicts: {
      paid: 'It fits the limit. It counts until the whole period has passed, by the clock and not by the calendar, even if you allow the shop again.',
      paid_once: 'This was the one payment that you allowed. Another payment needs a new permission.',
      limit_exceeded: 'Together with what was already paid in this period, it would exceed the limit.',
      other_sum: 'You allowed one payment of an exact amount, and this is a different amount.',
      used_up: 'You allowed one payment, and it has already been made.',
      insufficient_scope: 'You allowed nothing that covers this payee.',
      other_source: 'You didn’t allow payments from there.',
      invalid_amount:
        'That is not an amount: it must be more than zero, with at most two decimals. The payment API didn’t even ask the server.',
      invalid_token: 'The token doesn’t work any more.',
      ledger_full: 'The ledger of this trial is full. Restart the server.',
    },
    story: {
      waiting: 'The shop has the code and waits. A code is good for less than a minute. Seconds left:',
      expired: 'A minute is over, so the code has expired. Exchange it and see.',
      exchange: 'Exchange the code',
      token: 'The shop’s token',
      until: (day: string) => `Good until ${day}`,
      ended: 'It doesn’t work any more.',
      next: 'What next?',
      spend: 'Let the shop pay',
      to: 'Pay to',
      payee: 'Number or address',
      amount: 'Amount',
      from: 'From',
      pay: 'Pay',
      spendNote:
        'No money moves. The shop plays the payment API too, and keeps its ledger in memory until the server stops. A real one is a table: `docs/resources.md`.',
      introspect: 'Ask what the token allows',
      introspectEarlier: 'Ask about the earlier token',
      replay: 'Send the code again',
      giveBack: 'Give the token back',
      again: 'Ask you again',
      other: 'Ask for something else',
    },
    notices: {
      unasked: {
        title: 'Nobody asked for this answer',
        text: 'This browser hasn’t started anything here, or it took longer than the shop remembers. So the shop ignores it.',
      },
      missing: { title: 'There is no such page', text: 'Go back to the beginning.' },
      broken: { title: 'That didn’t work', text: 'Go back to the beginning and try again.' },
    },
  },
};

export type Texts = typeof en;
