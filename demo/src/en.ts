/** English, and the model of the other language. Between backquotes stand names of the protocol, which are the same in both. */
export const en = {
  tag: 'en-GB',
  ownName: 'English',
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
    users: 'Sign in as',
    usersNote: (server: string) =>
      `Type these on the pages of \`${server}\` only. A real shop never sees a password; this one may show them, because the trial made them up for you.`,
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
      text: 'Your browser carries it, not the shop. It names no user: whoever signs in decides. `state` ties the answer to this browser, `code_challenge` ties the code to this shop.',
    },
    code: {
      title: 'You allowed it: back with a code',
      text: 'All that travels through the browser is a `code`. It is good once, for less than a minute, and only together with the shop’s secret and its `code_verifier`. The `state` is the one that was sent, so the shop takes the answer.',
    },
    rejected: {
      title: 'You rejected the request',
      text: 'The shop learns `access_denied` and no more. Nothing changed: a token it got before still works.',
    },
    unasked: {
      title: 'The shop drops this answer',
      text: 'Its `state` is not the one that the shop gave this browser. The code could come from an attacker who wants to connect you to the wrong account. So the shop doesn’t exchange it.',
    },
    token: {
      title: 'The exchange: a token for the code',
      text: 'The servers talk directly, and your browser never has the token. The secret shows who is asking, and `code_verifier` that it is the one who started. The token works for three years: a real shop keeps it encrypted.',
    },
    refused: { title: 'The server refuses', text: 'The shop gets nothing for it.' },
    replayed: {
      title: 'The same code again',
      text: 'A used code that comes again looks stolen. The server refuses it and, as long as the code could still be good, takes back the token that it gave for it. Look at what comes next.',
    },
    unanswered: {
      title: 'No answer',
      text: 'The outcome is unknown. The shop starts over; the payment API lets nothing through.',
    },
    allows: {
      title: 'What the token allows',
      text: 'The payment API asks before each payment, with a secret of its own. `rights` has each right with its limit as data, so nobody has to take `scope` apart.',
    },
    inactive: {
      title: 'The token doesn’t work any more',
      text: '`active` is false, and not a word more: expired, revoked and unknown look the same. From now on nothing is paid.',
    },
    annulled: {
      title: 'The earlier token has ended',
      text: 'There is one permission for each application and connection name. The earlier one ended when you pressed Allow, before the new code was exchanged.',
    },
    stillWorks: {
      title: 'The earlier token still works',
      text: 'It has another connection name. So both are good, each with its own limits, and “Connected applications” shows both.',
    },
    givenBack: {
      title: 'The shop gives the token back',
      text: 'The answer is the same whether or not there was such a token. You can do the same without the shop, under “Connected applications”.',
    },
    paid: {
      title: 'Paid',
      text: 'The payment API writes the amount down before any money moves, and counts it by `grant_id`.',
    },
    notPaid: { title: 'Not paid', text: 'Nothing was written down, so nothing counts toward the limit.' },
  },
  /** Why a token was not given, by its `error`. */
  errors: {
    invalid_grant:
      'The code is unknown, expired, used or annulled, or `code_verifier` is wrong. The server doesn’t say which, so that a thief learns nothing; its operator finds the exact rule in the log. The shop asks again from the start.',
    unauthorized_client: 'The shop is unknown or blocked, or its secret is wrong.',
    temporarily_unavailable: 'The server can’t answer just now. Wait as long as it says, then try once more.',
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
      'That is not an amount: it must be more than zero, with at most two decimals. The server was not asked.',
    invalid_token: 'The token doesn’t work any more.',
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
    again: 'Have the shop ask again',
    other: 'Change what it asks for',
  },
  notices: {
    unasked: {
      title: 'Nobody asked for this answer',
      text: 'This browser hasn’t started anything here, or it took longer than the shop remembers. So the shop ignores it.',
    },
    missing: { title: 'There is no such page', text: 'Go back to the beginning.' },
    broken: { title: 'That didn’t work', text: 'Go back to the beginning and try again.' },
  },
};

export type Texts = typeof en;
