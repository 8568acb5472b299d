/** English, the model for the other language. Names of the protocol stand in backquotes and are the same in both. */
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
  },
  plan: {
    heading: 'Five minutes',
    done: 'Done',
    lessons: {
      connect: 'Connect the shop, and read the messages: the newest comes first.',
      spend: 'Let it pay RUB 3,000 twice: the second time the limit says no.',
      again: 'Ask again: the earlier token stops at once.',
      steal: 'Send the code a second time, as a thief would.',
      leave: 'Disconnect the shop on the server, then let it try to pay.',
    },
    end: 'That was all. To connect an application of your own, register it on the first page, and go on with the file `docs/integrate/guide.md`.',
  },
  steps: {
    connect: 'Connect my account',
    spend: 'Let the shop pay',
    again: 'Have the shop ask again',
    replay: 'Send the code again',
    introspect: 'Ask what the token allows',
    'give-back': 'Give the token back',
  },
  people: {
    heading: 'Sign in as',
    note: (server: string) => `Type these at \`${server}\` only: a real shop never sees a password.`,
    login: 'Login',
    password: 'Password',
    paymentPassword: 'Payment password',
  },
  copy: { now: 'Copy', done: 'Copied' },
  compose: {
    heading: 'Change what it asks for',
    scope: 'What is sent as `scope`',
    instance: 'Connection name (optional)',
    instanceNote: 'Each name is a connection of its own; asking with it again replaces that connection.',
    ask: 'Ask for this',
    or: 'Or one of these; the file `docs/integrate/scopes.md` has the grammar',
    examples: {
      week: 'To pay shops, up to 5,000 in 7 days',
      once: 'To pay shop 337 once, exactly 3,000',
      person: 'To pay a phone number, up to 1,000 in 30 days',
      contradiction: 'Rights that contradict each other',
    },
  },
  own: {
    heading: 'Connect an application of your own',
    name: 'Its name',
    redirectUri: 'Its `redirect_uri`: where your users come back to',
    register: 'Register it for an hour',
    done: 'Registered for an hour, or until this trial is started again. To try it, run the line below and open the address that it prints. The file `docs/integrate/guide.md` explains each step.',
    run: 'One line to run in Assent’s folder',
  },
  request: {
    title: 'Your browser is about to send this',
    lead: 'The shop has filled in a form. Your browser posts it to the server; there you sign in, read and decide.',
    send: 'Send it',
  },
  ways: {
    browserToServer: 'From your browser to the server',
    browserToShop: 'From the server through your browser to the shop',
    shopToServer: 'From the shop to the server',
    shopToPayments: 'From the shop to the payment API',
    paymentsToServer: 'From the payment API to the server',
  },
  parties: { browser: 'Browser', server: 'Server', shop: 'Shop', payments: 'Payments' },
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
      text: 'The servers talk directly, and your browser never has the token. The secret proves who is asking; `code_verifier` proves that the same shop started the request. The token works for three years: a real shop keeps it encrypted.',
    },
    refused: { title: 'The server refuses', text: 'The shop gets nothing for it.' },
    replayed: {
      title: 'The same code again',
      text: 'A used code that comes again looks stolen. The server refuses it and, while the code is still valid, takes back the token that it gave for it. The message above shows what became of it.',
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
  /** Reasons for a refusal or a payment, by `error` or verdict. */
  reasons: {
    invalid_grant:
      'The code is unknown, expired, used or annulled, or `code_verifier` is wrong. The server doesn’t say which, so that a thief learns nothing; its operator finds the exact rule in the log. The shop asks again from the start.',
    paid: 'It fits the limit. It counts until the whole period has passed, by the clock and not by the calendar, even if you allow the shop again.',
    paid_once: 'This was the one payment that you allowed. Another payment needs a new permission.',
    limit_exceeded: 'Together with what was already paid in this period, it would exceed the limit.',
    other_sum: 'You allowed one payment of an exact amount, and this is a different amount.',
    used_up: 'You allowed one payment, and it has already been made.',
    insufficient_scope: 'You allowed nothing that covers this payee.',
    other_source: 'You didn’t allow payments from there.',
    invalid_amount: 'An amount is more than zero, with at most two decimals.',
    invalid_token: 'The token doesn’t work any more.',
  },
  story: {
    token: 'The shop’s token',
    until: (day: string) => `Good until ${day}`,
    used: (used: string, limit: string, day: string) => `${used} of ${limit} used, all free again on ${day}`,
    more: 'Other steps',
    to: 'Pay to',
    payee: 'Number or address',
    amount: 'Amount',
    from: 'From',
    payees: { shop: 'Shop', account: 'Account', phone: 'Phone number', email: 'Email address' },
    sources: { wallet: 'Wallet', card: 'Linked card' },
    pay: 'Pay',
    spendNote:
      'No money moves. The shop plays the payment API too, and keeps its ledger in memory until the server stops. A real one is a table: see the file `docs/integrate/resources.md`.',
  },
  notice: { title: 'That didn’t work', text: 'Go back to the beginning and try again.' },
};

export type Texts = typeof en;
