import type { RequestedAccess } from '../../src/flows/authorize.ts';
import { describeRights } from '../../src/http/browser/describe.ts';
import { describeRequest } from '../../src/http/browser/describeRequest.ts';
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
import { type Language, TEXTS } from '../../src/languages/languages.ts';
import { BUILT_IN_BRAND } from '../../src/rules/brand.ts';
import type { Client } from '../../src/rules/client.ts';
import { parseDirectory } from '../../src/rules/directory.ts';
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

const WORDS = {
  catalogue: BUILT_IN_CATALOGUE,
  currency: 'RUB',
  brand: BUILT_IN_BRAND,
  directory: parseDirectory('{"shops": {"metro": {"en": "City Metro", "ru": "Метро"}}, "accounts": {}}'),
};

const CLIENT: Client = {
  clientId: '5d41402abc4b2a76b9719d911017c592',
  name: 'Demo Shop',
  redirectUri: 'https://shop.example/back',
  verified: true,
  status: 'active',
  allowedRights: null,
  most: null,
  site: null,
  logo: null,
  reviewed: false,
  revision: 1,
};

/** What a request sample may have different. */
interface Asked {
  readonly client?: Partial<Client>;
  readonly scope?: string;
  readonly returnsTo?: string;
  readonly instanceName?: string;
  readonly user?: { readonly name: string; readonly login: string };
  /** The scope of the live authorization whose place the request takes. */
  readonly earlier?: string;
  readonly lastUsedOn?: string;
  readonly firstSeen?: boolean;
}

const HOSTILE_ASKED: Asked = {
  client: { name: HOSTILE },
  instanceName: HOSTILE,
  returnsTo: 'https://xn--e1afmkfd.xn--p1ai/',
  user: { name: HOSTILE, login: HOSTILE },
  scope: TWELVE,
  earlier: TWELVE,
  firstSeen: true,
};

const LONG_ASKED: Asked = {
  client: { name: LONG_NAME, site: `https://${'sub.'.repeat(40)}shop.example/`, reviewed: true },
  instanceName: LONG_WORD,
  returnsTo: `https://${'sub.'.repeat(40)}shop.example/`,
  user: { name: LONG_WORD.slice(0, 64), login: LONG_WORD.slice(0, 64) },
  scope: TWELVE,
  earlier: 'account-info payment.to-pattern("metro").limit(7,100)',
};

const RIGHT_TO_LEFT: Asked = {
  client: { name: HEBREW },
  instanceName: ARABIC,
  user: { name: ARABIC, login: ARABIC },
  scope: `payment.to-pattern("${HEBREW}").limit(7,3000)`,
  earlier: `payment.to-pattern("${ARABIC}")`,
};

const EARLIER: Asked = {
  instanceName: 'anna@shop.example',
  scope: 'account-info operation-history payment-shop.limit(7,3000)',
  earlier: 'account-info incoming-transfers payment-shop.limit(1,500) money-source("card")',
  lastUsedOn: '2026-05-09',
};

function access(asked: Asked): RequestedAccess {
  const { scope = 'account-info operation-history payment-shop.limit(7,3000)', earlier } = asked;
  return {
    authorizationRequest: {
      client: { ...CLIENT, ...asked.client },
      redirectUri: asked.returnsTo ?? CLIENT.redirectUri,
      scope,
      rights: parseScope(scope),
      instanceName: asked.instanceName ?? null,
      state: null,
      codeChallenge: null,
      canonicalQuery: REQUEST,
    },
    user: asked.user ?? { name: 'Anna Petrova', login: 'anna' },
    expiresAt: new Date('2029-11-20T12:00:00Z'),
    earlier:
      earlier === undefined
        ? null
        : {
            confirmedAt: new Date('2026-02-03T12:00:00Z'),
            lastUsedOn: asked.lastUsedOn ?? null,
            rights: parseScope(earlier),
          },
    firstSeen: asked.firstSeen ?? false,
    signOutToken: 'sign-out.token',
  };
}

/** The samples as readers of a language see them. */
export function pageSamplesIn(language: Language): Record<string, Page> {
  const texts = TEXTS[language];
  const rights = (scope: string) => describeRights(parseScope(scope), WORDS, language);
  const request = (asked: Asked): RequestPage => describeRequest(WORDS, access(asked), language);
  const day = (date: string) => texts.formats.day(new Date(date));

  const signIn = (changes: Partial<SignInPage> = {}): SignInPage => ({
    name: 'sign-in',
    request: REQUEST,
    formToken: 'form.token',
    clientName: 'Demo Shop',
    login: '',
    undone: null,
    error: null,
    ...changes,
  });

  const paymentPassword = (asked: Asked = {}, error: string | null = null): PaymentPasswordPage => ({
    name: 'payment-password',
    ...request(asked),
    keptAs: 'anna (payment)',
    formToken: 'form.token',
    error,
  });

  const consent = (asked: Asked = {}): ConsentPage => ({
    name: 'consent',
    ...request(asked),
    decisionToken: 'decision.token',
  });

  function error(changes: Partial<ErrorPage> = {}): ErrorPage {
    return {
      name: 'error',
      title: 'This request can’t go on',
      text: 'The parameter scope is missing or empty.',
      code: 'invalid_scope',
      reference: 'k3v9-7qxp',
      ...changes,
    };
  }

  function notice(changes: Partial<NoticePage> = {}): NoticePage {
    return {
      name: 'notice',
      title: 'You already allowed this',
      text: 'Demo Shop may act on your account since a moment ago. To take that back, disconnect it.',
      link: { href: '/account', text: 'Go to connected applications' },
      ...changes,
    };
  }

  function connection(changes: Partial<Authorization> = {}): Authorization {
    return {
      grantId: '3d6f0a52-3f0c-4f0e-9a39-0d8f6c1f2b11',
      clientName: 'Demo Shop',
      isBlocked: false,
      instanceName: null,
      confirmedOn: day('2026-11-20'),
      validUntil: day('2029-11-20'),
      rights: rights('account-info operation-history payment-shop.limit(7,3000)'),
      disconnectToken: 'disconnect.token',
      ...changes,
    };
  }

  function allOf(clientName: string, total: string): AuthorizedApplication {
    const clientId = '5d41402abc4b2a76b9719d911017c592';
    return { clientId, clientName, total, disconnectAllToken: 'disconnect-all.token' };
  }

  function account(
    authorizations: readonly Authorization[],
    changes: Partial<AccountPage> = {},
  ): AccountPage {
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

  return {
    'sign-in': signIn(),
    'sign-in to the account': signIn({ request: null, clientName: null }),
    'sign-in after a wrong password': signIn({ login: 'anna', error: texts.signIn.wrong }),
    'sign-in after too many tries': signIn({
      login: LONG_WORD,
      clientName: LONG_NAME,
      error: texts.tooManyTries(texts.wait.minutes(15)),
    }),
    'sign-in after a Disconnect too late': signIn({
      request: null,
      clientName: null,
      undone: texts.account.notSignedIn,
    }),
    'sign-in, hostile': signIn({ request: HOSTILE, clientName: HOSTILE, login: HOSTILE, error: HOSTILE }),
    'sign-in, right to left': signIn({ clientName: HEBREW, login: ARABIC }),

    'payment-password': paymentPassword(),
    'payment-password after a wrong one': paymentPassword({}, texts.paymentPassword.wrong),
    'payment-password, default limit': paymentPassword({ scope: 'payment-p2p' }),
    'payment-password, one payment': paymentPassword({ scope: ONE_TIME }),
    'payment-password, earlier': paymentPassword(EARLIER),
    'payment-password, hostile': paymentPassword(HOSTILE_ASKED, HOSTILE),
    'payment-password, long': paymentPassword(LONG_ASKED),

    consent: consent(),
    'consent, reads only': consent({ scope: READ_ONLY }),
    'consent, default limit': consent({ scope: 'payment-p2p' }),
    'consent, one payment': consent({ scope: ONE_TIME }),
    'consent, instance': consent({ instanceName: 'anna@shop.example', returnsTo: 'com.example.shop:/back' }),
    'consent, earlier': consent(EARLIER),
    'consent, new to the user': consent({ firstSeen: true }),
    'consent, reviewed': consent({ client: { site: 'https://www.shop.example/', reviewed: true } }),
    'consent, nothing changes': consent({
      earlier: 'account-info operation-history payment-shop.limit(7,3000)',
    }),
    'consent, lowered and dropped': consent({ scope: 'account-info', earlier: TWELVE }),
    'consent, twelve rights': consent({ scope: TWELVE }),
    'consent, hostile': consent(HOSTILE_ASKED),
    'consent, long': consent(LONG_ASKED),
    'consent, right to left': consent(RIGHT_TO_LEFT),

    error: error(),
    'error, ours': error({
      title: 'Something went wrong on our side',
      text: 'We could not finish this request.',
      code: null,
    }),
    'error, hostile': error({ title: HOSTILE, text: HOSTILE, reference: LONG_WORD }),

    notice: notice(),
    'notice without a link': notice({
      title: 'You are signed out',
      text: 'You can close this page.',
      link: null,
    }),
    'notice, hostile': notice({
      title: LONG_WORD,
      text: HOSTILE,
      link: { href: `/"${HOSTILE}`, text: HOSTILE },
    }),

    account: account(
      [
        connection(),
        connection({
          instanceName: 'anna-tablet',
          rights: rights('account-info payment.to-pattern("metro")'),
        }),
        connection({ clientName: 'Spending Diary', rights: rights(READ_ONLY) }),
      ],
      { several: [allOf('Demo Shop', '2')] },
    ),
    'account, empty': account([]),
    'account, last one disconnected': account([], { done: texts.account.disconnected }),
    'account, not disconnected': account([connection()], { undone: texts.account.outOfDate }),
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
}
