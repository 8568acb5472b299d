import type { AuthorizedClient, LiveAuthorization } from '../../src/flows/authorizations.ts';
import type { RequestedAccess } from '../../src/flows/authorize.ts';
import { HISTORY_KINDS, type HistoryEvent, type HistoryKind } from '../../src/flows/history.ts';
import type { UserSession } from '../../src/flows/userSessions.ts';
import {
  describeApplications,
  describeEvent,
  describeSession,
} from '../../src/http/browser/describeAccount.ts';
import {
  describeLimitFields,
  describeRequest,
  type TypedLimits,
} from '../../src/http/browser/describeRequest.ts';
import type {
  AccountPage,
  ConsentPage,
  DescribedEvent,
  ErrorPage,
  HistoryPage,
  NoticePage,
  Page,
  PasswordPage,
  PaymentPasswordPage,
  RequestPage,
  SecurityPage,
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
  userLimits: false,
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
    formToken: 'form.token',
    error,
  });

  const consent = (asked: Asked = {}, typed: TypedLimits | null = null): ConsentPage => ({
    name: 'consent',
    ...request(asked),
    decisionToken: 'decision.token',
    limits: describeLimitFields(WORDS, access(asked), typed, language),
    error: typed && TEXTS[language].consent.limits.undone,
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

  function authorization(
    instanceName: string | null,
    scope: string,
    changes: Partial<LiveAuthorization> = {},
  ) {
    return {
      grantId: '3d6f0a52-3f0c-4f0e-9a39-0d8f6c1f2b11',
      clientId: CLIENT.clientId,
      clientName: 'Demo Shop',
      isBlocked: false,
      instanceName,
      confirmedAt: new Date('2026-11-20T12:00:00Z'),
      lastUsedOn: '2026-11-21',
      expiresAt: new Date('2029-11-20T12:00:00Z'),
      expiresSoon: false,
      rights: parseScope(scope),
      disconnectToken: 'disconnect.token',
      ...changes,
    };
  }

  function connected(
    clientName: string,
    authorizations: readonly LiveAuthorization[],
    changes: Partial<AuthorizedClient> = {},
  ): AuthorizedClient {
    return {
      clientId: CLIENT.clientId,
      clientName,
      isBlocked: false,
      authorizations: authorizations.map((one) => ({ ...one, clientName })),
      live: authorizations.length,
      orMore: false,
      disconnectAllToken: 'disconnect-all.token',
      ...changes,
    };
  }

  const owner = { userName: 'Anna Petrova', userLogin: 'anna', signOutToken: 'sign-out.token' };

  function account(
    applications: readonly AuthorizedClient[],
    changes: Partial<AccountPage> = {},
  ): AccountPage {
    const page = { authorizations: [], applications, newer: null, older: null };
    return {
      name: 'account',
      ...owner,
      applications: describeApplications(WORDS, page, language),
      place: { direction: 'older', grantId: null },
      newer: null,
      older: null,
      done: null,
      undone: null,
      ...changes,
    };
  }

  const shop = authorization(null, 'account-info operation-history payment-shop.limit(7,3000)');
  const tablet = authorization('anna-tablet', 'account-info payment.to-pattern("metro")', {
    lastUsedOn: null,
  });
  const diary = connected('Spending Diary', [authorization(null, READ_ONLY, { lastUsedOn: null })]);

  const session = (changes: Partial<UserSession> = {}): UserSession => ({
    sessionId: 'a1b2c3',
    isThis: false,
    createdAt: new Date('2026-11-20T08:00:00Z'),
    seenAt: new Date('2026-11-22T08:00:00Z'),
    browser: 'Firefox',
    system: 'Linux',
    network: '203.0.113.0/24',
    endToken: 'end.token',
    ...changes,
  });

  const security = (sessions: readonly UserSession[], changes: Partial<SecurityPage> = {}): SecurityPage => ({
    name: 'security',
    ...owner,
    sessions: sessions.map((one) => describeSession(one, language)),
    endOthersToken: sessions.length > 1 ? 'end-others.token' : null,
    lastPayment: null,
    hasPaymentPassword: true,
    done: null,
    undone: null,
    ...changes,
  });

  const event = (kind: HistoryKind, changes: Partial<HistoryEvent> = {}): DescribedEvent =>
    describeEvent(
      {
        kind,
        at: new Date('2026-11-21T09:30:00Z'),
        clientId: CLIENT.clientId,
        clientName: 'Demo Shop',
        instanceName: null,
        network: '203.0.113.0/24',
        ...changes,
      },
      language,
    );

  const history = (events: readonly DescribedEvent[], changes: Partial<HistoryPage> = {}): HistoryPage => ({
    name: 'history',
    ...owner,
    events,
    isLater: false,
    older: null,
    ...changes,
  });

  const password = (changes: Partial<PasswordPage> = {}): PasswordPage => ({
    name: 'password',
    ...owner,
    which: 'password',
    asked: 'password',
    formToken: 'change.token',
    minCharacters: 8,
    error: null,
    ...changes,
  });

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
    'consent, limits to lower': consent({ ...EARLIER, client: { userLimits: true } }),
    'consent, limits that can’t be granted': consent(
      { client: { userLimits: true }, scope: TWELVE },
      {
        sums: new Map([
          [4, 'a lot'],
          [5, '300'],
          [6, '1,000'],
          [7, HOSTILE],
          [8, '0'],
        ]),
        problems: new Map([
          [4, 'higher_than_asked'],
          [6, 'too_many_decimals'],
          [7, 'not_a_sum'],
          [8, 'not_above_zero'],
        ]),
      },
    ),
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

    account: account([connected('Demo Shop', [shop, tablet]), diary]),
    'account, one application': account([connected('Demo Shop', [shop])]),
    'account, empty': account([]),
    'account, last one disconnected': account([], { done: texts.account.disconnected }),
    'account, not disconnected': account([diary], { undone: texts.account.outOfDate }),
    'account, one is blocked, one ends soon': account([
      connected('Demo Shop', [{ ...shop, isBlocked: true }], { isBlocked: true }),
      connected('Spending Diary', [authorization(null, READ_ONLY, { expiresSoon: true })]),
    ]),
    'account, ends soon': account([connected('Demo Shop', [{ ...shop, expiresSoon: true }])]),
    'account, blocked': account([
      connected('Demo Shop', [{ ...shop, isBlocked: true }], { isBlocked: true }),
    ]),
    'account, a page between others': account(
      [
        connected('Demo Shop', [authorization('anna-1', READ_ONLY), authorization('anna-2', READ_ONLY)], {
          live: 1000,
          orMore: true,
        }),
      ],
      { place: { direction: 'older', grantId: 'x' }, newer: '/account?newer=x', older: '/account?older=x' },
    ),
    'account, nothing left before others': account([], { older: '/account?older=x' }),
    'account, full': account(
      [
        connected(LONG_NAME, [authorization(LONG_WORD, TWELVE)], { live: 2 }),
        connected(HOSTILE, [authorization(HOSTILE, READ_ONLY)], { isBlocked: true, live: 21 }),
        connected(HEBREW, [authorization(ARABIC, ONE_TIME)], { live: 37 }),
        diary,
        ...[1, 2, 3].map((n) => connected(`Shop ${n}`, [shop])),
      ],
      {
        userName: ARABIC,
        userLogin: LONG_WORD.slice(0, 64),
        done: texts.account.disconnected,
        newer: '/account?newer=x',
      },
    ),
    'account, one long and hostile': account([
      connected(HOSTILE, [authorization(HOSTILE, TWELVE), authorization(LONG_WORD, ONE_TIME)]),
    ]),

    history: history(
      HISTORY_KINDS.map((kind) => event(kind)),
      { older: '/account/history?from=1-1' },
    ),
    'history, hostile': history(
      [
        event('approved', { clientName: HOSTILE, instanceName: HOSTILE }),
        event('revoked_by_user', { clientName: LONG_NAME, instanceName: LONG_WORD }),
        event('refused', { clientName: HEBREW, instanceName: ARABIC }),
        event('revoked_by_operator', { clientName: null, network: null }),
      ],
      { isLater: true },
    ),
    'history, empty': history([]),

    security: security([session({ isThis: true, endToken: null }), session()], {
      lastPayment: texts.security.lastPayment('Demo Shop', day('2026-11-20'), '203.0.113.0/24'),
    }),
    'security, this browser only': security([session({ isThis: true, endToken: null, network: null })], {
      hasPaymentPassword: false,
      done: texts.security.changed,
    }),
    'security, an unknown device': security(
      [session({ isThis: true, endToken: null }), session({ browser: null, system: null })],
      {
        undone: texts.security.undone,
      },
    ),
    'security, ended': security([session({ isThis: true, endToken: null })], { done: texts.security.ended }),

    password: password(),
    'password, the payment password': password({ which: 'payment-password', asked: 'payment-password' }),
    'password, a first payment password': password({ which: 'payment-password' }),
    'password, refused': password({ error: texts.security.form.problems.too_short(8) }),
  };
}
