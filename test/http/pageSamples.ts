import { type DescribedRight, describeRights } from '../../src/http/browser/describe.ts';
import type {
  AccountPage,
  Authorization,
  AuthorizedApplication,
  ConsentPage,
  ErrorPage,
  NoticePage,
  Page,
  PaymentPasswordPage,
  RequestPage,
  SignInPage,
} from '../../src/http/browser/pages.ts';
import { BUILT_IN_CATALOGUE } from '../../src/languages/catalogue.ts';
import { parseScope } from '../../src/rules/scope.ts';

/** Every page in every variant that looks different, with the names and amounts that break layouts. */

const HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>&amp;';
const LONG_NAME =
  'The Extraordinarily Long-Named Household Accounts and Subscriptions Manager, Second Edition';
const LONG_WORD = 'w'.repeat(255);
const HEBREW = 'חנות הספרים (2024) של דוד';
const ARABIC = 'محمد عبد الله';

const REQUEST = [
  'client_id=5d41402abc4b2a76b9719d911017c592',
  'response_type=code',
  'redirect_uri=https%3A%2F%2Fshop.example%2Fback',
  'scope=account-info%20payment-shop.limit(7%2C3000)',
  'state=%22%3E%3Cb%3E',
].join('&');

function rights(scope: string): DescribedRight[] {
  return describeRights(parseScope(scope), { catalogue: BUILT_IN_CATALOGUE, currency: 'RUB' }, 'en');
}

const READ_ONLY = 'account-info operation-history operation-details';
const ONE_TIME = 'account-info payment.to-account("+7-912-345-67-89","phone").limit(,123456789012.34)';
const TWELVE = [
  'account-info',
  'operation-history',
  'operation-details',
  'incoming-transfers',
  'payment.to-pattern("energy-and-water").limit(30,8500.50)',
  'payment.to-pattern("metro").limit(1,300)',
  'payment.to-pattern("books")',
  `payment.to-pattern("${'p'.repeat(128)}").limit(9999,123456789012.34)`,
  'payment.to-pattern("<b>bold&\\"quoted\\"</b>").limit(14,1)',
  `payment.to-pattern("${HEBREW}").limit(7,3000)`,
  'payment-p2p.limit(1,15000)',
  'money-source("wallet","card")',
].join(' ');

const requestPage: RequestPage = {
  request: REQUEST,
  clientName: 'Demo Shop',
  instanceName: null,
  returnsTo: 'shop.example',
  userName: 'Anna Petrova',
  userLogin: 'anna',
  rights: rights('account-info operation-history payment-shop.limit(7,3000)'),
  validUntil: '20 November 2029',
  earlier: null,
  undone: null,
  signOutToken: 'sign-out.token',
};

const withEarlier: Partial<RequestPage> = {
  instanceName: 'anna@shop.example',
  earlier: {
    confirmedOn: '3 February 2026',
    rights: rights('account-info payment-shop.limit(1,500)'),
  },
};

const hostile: Partial<RequestPage> = {
  undone: HOSTILE,
  clientName: HOSTILE,
  instanceName: HOSTILE,
  returnsTo: 'xn--e1afmkfd.xn--p1ai',
  userName: HOSTILE,
  userLogin: HOSTILE,
  rights: rights(TWELVE),
  earlier: { confirmedOn: '3 February 2026', rights: rights(TWELVE) },
};

const long: Partial<RequestPage> = {
  clientName: LONG_NAME,
  instanceName: LONG_WORD,
  returnsTo: `${'sub.'.repeat(40)}shop.example`,
  userName: LONG_WORD.slice(0, 64),
  userLogin: LONG_WORD.slice(0, 64),
  rights: rights(TWELVE),
};

const rightToLeft: Partial<RequestPage> = {
  clientName: HEBREW,
  instanceName: ARABIC,
  userName: ARABIC,
  userLogin: ARABIC,
  rights: rights(`payment.to-pattern("${HEBREW}").limit(7,3000)`),
  earlier: { confirmedOn: '3 February 2026', rights: rights(`payment.to-pattern("${ARABIC}")`) },
};

function signIn(changes: Partial<SignInPage> = {}): SignInPage {
  return {
    name: 'sign-in',
    request: REQUEST,
    formToken: 'form.token',
    clientName: 'Demo Shop',
    login: '',
    undone: null,
    error: null,
    ...changes,
  };
}

function paymentPassword(
  changes: Partial<RequestPage> = {},
  error: string | null = null,
): PaymentPasswordPage {
  return {
    name: 'payment-password',
    ...requestPage,
    formToken: 'form.token',
    ...changes,
    error,
  };
}

function consent(changes: Partial<RequestPage> = {}): ConsentPage {
  return { name: 'consent', ...requestPage, decisionToken: 'decision.token', ...changes };
}

function error(changes: Partial<ErrorPage> = {}): ErrorPage {
  return {
    name: 'error',
    title: 'This request can’t go on',
    text: 'The parameter scope is missing or empty.',
    fault: 'The mistake is in what Demo Shop sent, not yours.',
    next: 'Go back to Demo Shop and start again from there.',
    link: { href: '/account', text: 'See your connected applications' },
    passOn: 'Pass these details on to the people behind Demo Shop.',
    code: 'invalid_scope',
    reference: 'k3v9-7qxp',
    explained: null,
    ...changes,
  };
}

function notice(changes: Partial<NoticePage> = {}): NoticePage {
  return {
    name: 'notice',
    title: 'You already allowed this',
    text: 'Demo Shop may act on your account since a moment ago. To take that back, disconnect it.',
    links: [{ href: '/account', text: 'Go to connected applications' }],
    refusal: null,
    ...changes,
  };
}

function connection(changes: Partial<Authorization> = {}): Authorization {
  return {
    grantId: '3d6f0a52-3f0c-4f0e-9a39-0d8f6c1f2b11',
    clientName: 'Demo Shop',
    isBlocked: false,
    instanceName: null,
    confirmedOn: '20 November 2026',
    validUntil: '20 November 2029',
    rights: requestPage.rights,
    disconnectToken: 'disconnect.token',
    ...changes,
  };
}

function allOf(clientName: string, total: string): AuthorizedApplication {
  const clientId = '5d41402abc4b2a76b9719d911017c592';
  return { clientId, clientName, total, disconnectAllToken: 'disconnect-all.token' };
}

function account(authorizations: readonly Authorization[], changes: Partial<AccountPage> = {}): AccountPage {
  return {
    name: 'account',
    userName: 'Anna Petrova',
    userLogin: 'anna',
    signOutToken: 'sign-out.token',
    authorizations,
    several: [],
    place: { direction: 'older', grantId: null },
    newer: null,
    older: null,
    done: null,
    undone: null,
    ...changes,
  };
}

export const pageSamples: Record<string, Page> = {
  'sign-in': signIn(),
  'sign-in to the account': signIn({ request: null, clientName: null }),
  'sign-in after a wrong password': signIn({ login: 'anna', error: 'The login or the password is wrong.' }),
  'sign-in after too many tries': signIn({
    login: LONG_WORD,
    clientName: LONG_NAME,
    error: 'Too many tries. Wait 15 minutes and try again.',
  }),
  'sign-in after a Disconnect too late': signIn({
    request: null,
    clientName: null,
    undone: 'Nothing was disconnected yet, because you were no longer signed in.',
  }),
  'sign-in, hostile': signIn({ request: HOSTILE, clientName: HOSTILE, login: HOSTILE, error: HOSTILE }),
  'sign-in, right to left': signIn({ clientName: HEBREW, login: ARABIC }),

  'payment-password': paymentPassword(),
  'payment-password after a wrong one': paymentPassword({}, 'The payment password is wrong.'),
  'payment-password, default limit': paymentPassword({ rights: rights('payment-p2p') }),
  'payment-password, one payment': paymentPassword({ rights: rights(ONE_TIME) }),
  'payment-password, earlier': paymentPassword(withEarlier),
  'payment-password, hostile': paymentPassword(hostile, HOSTILE),
  'payment-password, long': paymentPassword(long),

  consent: consent(),
  'consent, reads only': consent({ rights: rights(READ_ONLY) }),
  'consent, default limit': consent({ rights: rights('payment-p2p') }),
  'consent, one payment': consent({ rights: rights(ONE_TIME) }),
  'consent, instance': consent({ instanceName: 'anna@shop.example', returnsTo: 'com.example.shop' }),
  'consent, earlier': consent(withEarlier),
  'consent, shown afresh': consent({ undone: 'That page was out of date, so nothing was allowed.' }),
  'consent, twelve rights': consent({ rights: rights(TWELVE) }),
  'consent, hostile': consent(hostile),
  'consent, long': consent(long),
  'consent, right to left': consent(rightToLeft),

  error: error(),
  'error, ours': error({
    title: 'Something went wrong on our side',
    text: 'We could not finish this request.',
    code: null,
    link: { href: `/oauth/authorize?${REQUEST}`, text: 'Try again' },
  }),
  'error, explained': error({
    explained: { rule: 'The parameter scope is missing.', remedy: 'docs/integrating.md has requests.' },
  }),
  'error, hostile': error({
    title: HOSTILE,
    text: HOSTILE,
    fault: HOSTILE,
    next: HOSTILE,
    passOn: HOSTILE,
    reference: LONG_WORD,
    link: { href: `/"${HOSTILE}`, text: HOSTILE },
    explained: { rule: LONG_WORD, remedy: HOSTILE },
  }),

  notice: notice(),
  'notice without a link': notice({
    title: 'You are signed out',
    text: 'You can close this page.',
    links: [],
  }),
  'notice with two ways on': notice({
    links: [
      { href: '/account', text: 'See your connected applications' },
      { href: `/oauth/authorize?${REQUEST}`, text: 'Open it in a new tab', inNewTab: true },
    ],
    refusal: { passOn: 'Tell our support this reference.', code: null, reference: 'x', explained: null },
  }),
  'notice, hostile': notice({
    title: LONG_WORD,
    text: HOSTILE,
    links: [{ href: `/"${HOSTILE}`, text: HOSTILE }],
  }),

  account: account(
    [
      connection(),
      connection({ instanceName: 'anna-tablet', rights: rights('account-info payment.to-pattern("metro")') }),
      connection({ clientName: 'Spending Diary', rights: rights(READ_ONLY) }),
    ],
    { several: [allOf('Demo Shop', '2')] },
  ),
  'account, empty': account([]),
  'account, last one disconnected': account([], { done: 'Demo Shop is disconnected.' }),
  'account, not disconnected': account([connection()], { undone: 'Nothing was disconnected yet.' }),
  'account, one is blocked': account([
    connection({ isBlocked: true }),
    connection({ clientName: 'Spending Diary', rights: rights(READ_ONLY) }),
  ]),
  'account, a page between others': account(
    [connection({ instanceName: 'anna-1' }), connection({ instanceName: 'anna-2' })],
    {
      several: [allOf('Demo Shop', '1,000 or more')],
      place: { direction: 'older', grantId: 'x' },
      newer: '/account?newer=x',
      older: '/account?older=x',
    },
  ),
  'account, nothing left before others': account([], { older: '/account?older=x' }),
  'account, full': account(
    [
      connection({ clientName: LONG_NAME, instanceName: LONG_WORD, rights: rights(TWELVE) }),
      connection({ clientName: HOSTILE, instanceName: HOSTILE, isBlocked: true }),
      connection({ clientName: HEBREW, instanceName: ARABIC, rights: rights(ONE_TIME) }),
      connection({ clientName: 'Spending Diary', rights: rights(READ_ONLY) }),
    ],
    {
      userName: ARABIC,
      userLogin: LONG_WORD.slice(0, 64),
      done: `${HEBREW} is disconnected.`,
      several: [allOf(LONG_NAME, '2'), allOf(HOSTILE, HOSTILE), allOf(HEBREW, '37')],
      newer: '/account?newer=x',
    },
  ),
};
