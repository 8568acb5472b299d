import { parseLogo } from '../../src/config/operatorFiles.ts';
import type { AuthorizedClient, LiveAuthorization } from '../../src/flows/account/authorizations.ts';
import type { HistoryEvent, HistoryKind, PastApproval } from '../../src/flows/account/history.ts';
import type { UserSession } from '../../src/flows/account/userSessions.ts';
import type { Warning } from '../../src/flows/account/warnings.ts';
import type { ConsentStep } from '../../src/flows/authorize/authorize.ts';
import { openProvider } from '../../src/flows/common/provider.ts';
import { type PageLocale, passwordLinks } from '../../src/http/describe/describe.ts';
import { describeClient, describeGranted } from '../../src/http/describe/describeGranted.ts';
import { describeWarnings } from '../../src/http/describe/describeWarnings.ts';
import { describeApplication } from '../../src/http/pages/account/accountPage.ts';
import { describeApproval, describeEvent } from '../../src/http/pages/account/historyPage.ts';
import { describeSessions } from '../../src/http/pages/account/securityPage.ts';
import { describeRequest, type typedLimits } from '../../src/http/pages/consentPage.ts';
import { BUILT_IN_CATALOGUE, type Catalogue } from '../../src/languages/catalogue.ts';
import { withValues } from '../../src/languages/languages.ts';
import { tokenLifetimeFrom } from '../../src/rules/common/lifetimes.ts';
import { BUILT_IN_BRAND } from '../../src/rules/face/brand.ts';
import { parseTargetNames } from '../../src/rules/face/directory.ts';
import type { Logo } from '../../src/rules/face/logo.ts';
import { type Client, logoPath } from '../../src/rules/request/client.ts';
import { FURTHER_LIMITS, rightKeyOf } from '../../src/rules/request/scopeRules.ts';
import { hasSpendingRight } from '../../src/rules/scope/scope.ts';
import { HISTORY_KINDS } from '../../src/store/account/history.ts';
import { parseScope } from '../rules/rubles.ts';
import { requestOf } from '../support/flow.ts';
import { languageOf, type Tag } from '../support/languages.ts';
import { svg } from '../support/pictures.ts';
import { deadEndSamples, errorSample, noticeSample } from './deadEnds.ts';
import type { Page } from './rendering.ts';

/** Every page in every variant that looks different, with the names and amounts that break layouts. */

const NO_PART = { application: '', older: '', search: '' };
const HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>&amp;';
const LONG_NAME =
  'The Extraordinarily Long-Named Household Accounts and Subscriptions Manager, Second Edition';
const LONG_WORD = 'w'.repeat(255);
const HEBREW = 'חנות הספרים (2024) של דוד';
const ARABIC = 'محمد عبد الله';

const READ_ONLY = 'account-info operation-history operation-details';
const ONE_TIME = 'account-info payment.to-account("+7-912-345-67-89","phone").limit(,123456789012.34)';
const TRANSFERS = [
  'payment.to-account("410011234567890","account").limit(7,500) payment.to-account("boris@mail.example","email")',
  'payment.to-account("DE89370400440532013000").limit(30,900)',
].join(' ');
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

/** A largest payment and a last day. */
const FURTHER = 'payment-shop.limit(7,5000).each(500).until(2027-06-30)';

const OPERATORS = {
  catalogue: BUILT_IN_CATALOGUE,
  timeZone: 'UTC',
  brand: BUILT_IN_BRAND,
  provider: null,
  furtherLimits: [],
  directory: parseTargetNames('{"shops": {"metro": {"en": "City Metro", "ru": "Метро"}}, "accounts": {}}'),
};

/** A provider that confirms no payments: Assent has no page to set a payment password. */
const AT_PROVIDER = openProvider({
  ...{ issuer: 'https://bank.example', clientId: 'x', clientSecret: 'x' },
  ...{ paymentAcr: null, createsUsers: true },
});

/** Its file has no `money-source`. */
const BANK: Catalogue = new Map([...BUILT_IN_CATALOGUE].filter(([name]) => name !== 'money-source'));

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
  oauth21: false,
  eventsUri: null,
  eventsInternal: false,
  createdAt: new Date('2026-05-03T12:00:00Z'),
  revision: 1,
};

const ASKED = { scope: 'account-info payment-shop.limit(7,3000)', state: '"><b>' };
const REQUEST = String(new URLSearchParams(requestOf({ ...CLIENT, clientSecret: null }, ASKED)));

const LOGO = parseLogo(svg('<circle cx="16" cy="16" r="15" fill="#b3541e"/>'));
const WIDE_LOGO = parseLogo(svg('<path fill="#b3541e" d="M0 0h96v32H0z"/>', 'viewBox="0 0 96 32"'));

export const LOGOS_OF_SAMPLES: Readonly<Record<string, Logo>> = Object.fromEntries(
  [LOGO, WIDE_LOGO].map((logo) => [logoPath({ ...CLIENT, logo: logo.file }), logo]),
);

const like =
  <One>(one: One) =>
  (changes: Partial<One> = {}): One => ({ ...one, ...changes });

type ConfirmedAccess = NonNullable<ConsentStep['earlier']>;

interface Asked {
  readonly client?: Partial<Client>;
  readonly scope?: string;
  readonly returnsTo?: string;
  readonly instanceName?: string;
  readonly user?: { readonly name: string; readonly login: string };
  /** The scope of the live authorization whose place the request takes. */
  readonly earlier?: string;
  readonly lastUsedOn?: string;
  readonly spent?: ConfirmedAccess['spent'];
  readonly firstSeen?: boolean;
  readonly hasPaymentPassword?: boolean;
  readonly requiresPaymentPassword?: boolean;
  /** The scopes of the other connections; null for too many. */
  readonly others?: readonly string[] | null;
  readonly undone?: string;
  readonly onward?: string;
}

const HOSTILE_ASKED: Asked = {
  client: { name: HOSTILE },
  instanceName: HOSTILE,
  returnsTo: 'https://xn--e1afmkfd.xn--p1ai/',
  user: { name: HOSTILE, login: HOSTILE },
  scope: TWELVE,
  earlier: TWELVE,
  firstSeen: true,
  undone: HOSTILE,
};

const LONG_ASKED: Asked = {
  client: {
    name: LONG_NAME,
    site: `https://${'sub.'.repeat(40)}shop.example/`,
    logo: WIDE_LOGO.file,
    reviewed: true,
  },
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

function access(asked: Asked): ConsentStep {
  const { scope = 'account-info operation-history payment-shop.limit(7,3000)', earlier, others = [] } = asked;
  const { user = { name: 'Anna Petrova', login: 'anna' }, lastUsedOn = null } = asked;
  const { hasPaymentPassword = true, requiresPaymentPassword = false } = asked;
  const rights = parseScope(scope);
  return {
    step: 'consent',
    decisionToken: 'decision.token',
    needsConfirmation: (hasPaymentPassword || requiresPaymentPassword) && hasSpendingRight(rights),
    mayHold: true,
    revision: 0,
    authorizationRequest: {
      client: { ...CLIENT, ...asked.client },
      redirectUri: asked.returnsTo ?? CLIENT.redirectUri,
      scope,
      askedScope: scope,
      rights,
      instanceName: asked.instanceName ?? null,
      state: null,
      codeChallenge: null,
      canonicalQuery: REQUEST,
    },
    user: { ...user, hasPaymentPassword },
    ...tokenLifetimeFrom(new Date('2026-11-20T12:00:00Z')),
    earlier: earlier
      ? {
          confirmedAt: new Date('2026-02-03T12:00:00Z'),
          lastUsedOn,
          rights: parseScope(earlier),
          spent: asked.spent,
        }
      : null,
    others: others?.map(parseScope) ?? null,
    firstSeen: asked.firstSeen ?? false,
    signOutToken: 'sign-out.token',
  };
}

/** @param rights without a target: what is used, its oldest payment, and the day on which that is free again */
function spentOn(rights: Readonly<Record<string, [used: string, oldest: string, day: string]>>) {
  return new Map(
    Object.entries(rights).map(([name, [used, oldest, day]]) => [
      rightKeyOf({ name }),
      { used, oldest, freeAgain: new Date(`${day}T12:00:00Z`) },
    ]),
  );
}

function eventOf(kind: HistoryKind, changes: Partial<HistoryEvent>): HistoryEvent {
  return {
    kind,
    at: new Date('2026-11-21T09:30:00Z'),
    clientId: CLIENT.clientId,
    clientName: 'Demo Shop',
    instanceName: null,
    scope: null,
    network: '203.0.113.0/24',
    browser: /^(approved|signed_in)/.test(kind) ? 'Firefox' : null,
    system: /^(approved|signed_in)/.test(kind) ? 'Linux' : null,
    receipt: kind.startsWith('approved') ? '2026-11-21-7f3a91c245' : null,
    confirmedBy: null,
    ...changes,
  };
}

export function pageSamplesIn(language: Tag): Record<string, Page> {
  const { texts } = languageOf(language);
  const words = { ...OPERATORS, language: languageOf(language), texts };
  const asker = (client: Partial<Client> = {}) => describeClient({ ...CLIENT, ...client }, words);

  const signIn = like<Page<'sign-in'>>({
    name: 'sign-in',
    request: REQUEST,
    formToken: 'form.token',
    client: asker(),
    login: '',
    undone: null,
    error: null,
  });
  const signInToAccount = (undone: string | null) => signIn({ request: null, client: null, undone });

  const granted = (asked: Asked) => {
    const step = access(asked);
    return describeGranted(step.authorizationRequest.rights, step.authorizationRequest, step, words);
  };

  const confirm = (asked: Asked = {}, error: string | null = null): Page<'confirm'> => ({
    ...granted(asked),
    name: 'confirm',
    request: REQUEST,
    signOutToken: 'sign-out.token',
    keptAs: 'anna (payment)',
    decision: 'signed.decision',
    error,
  });

  const receipt = (asked: Asked = {}, changes: Partial<Page<'receipt'>> = {}): Page<'receipt'> => ({
    ...granted(asked),
    name: 'receipt',
    choice: 'allow',
    onward: `/oauth/return?${REQUEST}&decision=signed.decision`,
    ...changes,
  });

  const consent = (
    asked: Asked = {},
    typed: ReturnType<typeof typedLimits> | null = null,
    settings: Partial<PageLocale> = {},
  ): Page<'consent'> => ({
    name: 'consent',
    ...describeRequest(access(asked), typed, { ...words, ...settings }),
    undone: asked.undone ?? null,
    onward: asked.onward ?? null,
    decisionToken: 'decision.token',
    error: typed && texts.consent.limits.undone,
  });

  const authorization = (
    instanceName: string | null,
    scope: string,
    changes: Partial<LiveAuthorization> = {},
  ): LiveAuthorization => ({
    grantId: '3d6f0a52-3f0c-4f0e-9a39-0d8f6c1f2b11',
    clientId: CLIENT.clientId,
    clientName: 'Demo Shop',
    clientLogo: null,
    isBlocked: false,
    instanceName,
    confirmedAt: new Date('2026-11-20T12:00:00Z'),
    lastUsedOn: '2026-11-21',
    expiresAt: new Date('2029-11-20T12:00:00Z'),
    expiresSoon: false,
    rights: parseScope(scope),
    spent: undefined,
    disconnectToken: 'disconnect.token',
    scope,
    // On no page:
    userId: '0a3c7e52-9b1d-4f6e-8a20-5d4c3b2a1908',
    revision: 1,
    codeExpiresAt: new Date('2026-11-20T12:00:50Z'),
    tokenIssuedAt: new Date('2026-11-20T12:00:01Z'),
    revokedAt: null,
    clientStatus: 'active' as const,
    now: new Date('2026-11-21T12:00:00Z'),
    ...changes,
  });

  function connected(
    clientName: string,
    authorizations: readonly LiveAuthorization[],
    changes: Partial<AuthorizedClient> = {},
  ): AuthorizedClient {
    const { isBlocked = false } = changes;
    return {
      clientId: CLIENT.clientId,
      clientName,
      clientLogo: null,
      isBlocked,
      canSpend: !isBlocked && authorizations.some(({ rights }) => hasSpendingRight(rights)),
      spending: authorizations.map(({ rights }) => rights).filter(hasSpendingRight),
      authorizations: authorizations.map((one) => ({ ...one, clientName, isBlocked })),
      live: authorizations.length,
      lastUsedOn: authorizations.length > 0 ? (authorizations[0]?.lastUsedOn ?? null) : '2026-11-21',
      // On no page:
      clientStatus: isBlocked ? 'blocked' : 'active',
      scopes: null,
      disconnectAllToken: 'disconnect-all.token',
      ...changes,
    };
  }

  const owner = { userName: 'Anna Petrova', userLogin: 'anna', signOutToken: 'sign-out.token' };

  const account = (
    applications: readonly AuthorizedClient[],
    changes: Partial<Page<'account'>> = {},
  ): Page<'account'> => ({
    name: 'account',
    ...owner,
    title: changes.undone ? texts.account.titleUndone : texts.account.title,
    applications: applications.map((client) => describeApplication(client, words)),
    all: applications.length,
    spending: applications.filter(({ canSpend }) => canSpend).length,
    isSearchable: false,
    part: NO_PART,
    older: null,
    warnings: null,
    done: null,
    ways: [],
    undone: null,
    ...changes,
  });
  const row = (name: string, scopes: readonly string[], changes: Partial<AuthorizedClient> = {}) => {
    const spending = scopes.map(parseScope);
    return connected(name, [], { live: 3, canSpend: scopes.length > 0, spending, ...changes });
  };

  const warnings = (
    kinds: readonly Warning['kind'][],
    changes: Partial<HistoryEvent> = {},
    hasMore = false,
  ) => {
    const alike = { seen: '1', hasMore, firstAt: new Date('2026-11-02T09:30:00Z') };
    const found = kinds.map((kind, at) => ({
      ...eventOf('signed_in', changes),
      ...alike,
      kind,
      times: 1 + 2 * at,
    }));
    const answerable = (warnings: typeof found) => ({ warnings, answered: '1', seenToken: 'seen.token' });
    const others = found.length > 1 ? answerable(found.slice(1)) : null;
    return describeWarnings({ first: answerable(found.slice(0, 1)), others, hasMore }, words);
  };

  const disconnected = (what = 'Demo Shop') => {
    const title = texts.account.disconnected({ what });
    return { title, done: `${title}. ${texts.account.stillConnected}` };
  };

  const shop = authorization(null, 'account-info operation-history payment-shop.limit(7,3000)');
  const tablet = authorization('anna-tablet', 'account-info payment.to-pattern("metro")', {
    lastUsedOn: null,
  });
  const readers = [authorization('anna-1', READ_ONLY), authorization('anna-2', READ_ONLY)];
  const demoShop = [connected('Demo Shop', [shop])];
  const diary = connected('Spending Diary', [authorization(null, READ_ONLY, { lastUsedOn: null })]);

  const session = like<UserSession>({
    sessionId: 'a1b2c3',
    isCurrent: false,
    createdAt: new Date('2026-11-20T08:00:00Z'),
    seenAt: new Date('2026-11-22T08:00:00Z'),
    browser: 'Firefox',
    system: 'Linux',
    network: '203.0.113.0/24',
    endToken: 'end.token',
  });
  const thisSession = session({ isCurrent: true, endToken: null });

  const security = (
    sessions: readonly UserSession[],
    changes: Partial<Page<'security'>> = {},
  ): Page<'security'> => ({
    name: 'security',
    ...owner,
    sessions: describeSessions(sessions, new Date('2026-11-22T09:00:00Z'), words),
    endOthersToken: sessions.length > 1 ? 'end-others.token' : null,
    warnings: null,
    passwords: passwordLinks(words, true),
    isUnguarded: false,
    done: null,
    ways: [],
    undone: null,
    ...changes,
  });

  const told = (events: readonly HistoryEvent[]) => events.map((event) => describeEvent(event, words));

  const history = like<Page<'history'>>({
    name: 'history',
    ...owner,
    intro: texts.history.intro({ zone: 'UTC' }),
    events: [],
    isLater: false,
    older: null,
  });

  const approval = (scope: string, changes: Partial<PastApproval> = {}): Page<'approval'> => {
    const decided = eventOf('approved', { confirmedBy: 'payment_password', ...changes });
    const all: PastApproval = {
      ...decided,
      grantId: shop.grantId,
      scope,
      rights: parseScope(scope),
      end: null,
      live: undefined,
      ...changes,
    };
    return { name: 'approval', ...owner, ...describeApproval(all, words) };
  };
  const endedBy = (kind: HistoryKind, changes: Partial<HistoryEvent> = {}) => ({
    end: { ...eventOf(kind, changes), grantId: shop.grantId, scope: 'account-info' },
  });

  const stop = like<Page<'stop'>>({
    name: 'stop',
    ...owner,
    formToken: 'stop.token',
    offersLess: false,
    endOthersToken: null,
    changesPassword: true,
    undone: null,
  });

  const password = like<Page<'password'>>({
    name: 'password',
    ...owner,
    path: '/oauth/account/password',
    kind: 'password',
    keptAs: 'anna',
    currentKind: 'password',
    formToken: 'change.token',
    error: null,
    wrong: 'old',
  });

  const first = { path: '/oauth/account/payment-password', kind: 'payment password' } as const;
  const paying = { ...first, currentKind: 'payment password' } as const;

  const tooManyTries = texts.tooManyTries({ wait: texts.wait.seconds({ seconds: 45 }) });
  return {
    'sign-in': signIn(),
    'sign-in to the account': signInToAccount(null),
    'sign-in after a wrong password': signIn({ login: 'anna', error: texts.signIn.wrong }),
    'sign-in after too many tries': signIn({
      login: LONG_WORD,
      client: asker(LONG_ASKED.client),
      error: texts.tooManyTries({ wait: texts.wait.minutes({ minutes: 15 }) }),
    }),
    'sign-in after a form too late': signInToAccount(texts.outcomes.atSignIn.stale),
    'sign-in after signing out': signInToAccount(texts.outcomes.atSignIn.signed_out),
    'sign-in after the session ended': signIn({ undone: texts.signIn.sessionOver }),
    'sign-in without cookies': signIn({ undone: texts.signIn.cookiesOff({ host: 'pay.example' }) }),
    'sign-in after a stale form': signIn({ undone: texts.outcomes.atSignIn.not_signed_in }),
    'sign-in after an answer too late': signIn({ undone: texts.outcomes.atSignIn.not_decided }),
    'sign-in, hostile': signIn({
      request: HOSTILE,
      client: asker({ name: HOSTILE }),
      login: HOSTILE,
      error: HOSTILE,
    }),
    'sign-in, right to left': signIn({ client: asker({ name: HEBREW }), login: ARABIC }),

    confirm: confirm(),
    'confirm after a wrong password': confirm({}, texts.confirm.wrong),
    'confirm after too many tries': confirm({}, tooManyTries),
    'confirm, one payment': confirm({ scope: ONE_TIME, instanceName: 'anna-phone' }),
    'confirm, at the provider': { ...confirm({ scope: TRANSFERS }), keptAs: null },
    'confirm, hostile': confirm(HOSTILE_ASKED, HOSTILE),
    'confirm, long': confirm(LONG_ASKED),
    'confirm, right to left': confirm(RIGHT_TO_LEFT),

    receipt: receipt(),
    'receipt, used': receipt({}, { onward: null }),
    'receipt, reads only': receipt({ scope: READ_ONLY }),
    'receipt, rejected': receipt({}, { choice: 'reject' }),
    'receipt, hostile': receipt(HOSTILE_ASKED),
    'receipt, long': receipt(LONG_ASKED),

    consent: consent(),
    'consent, reads only': consent({ scope: READ_ONLY }),
    'consent, one payment': consent({ scope: ONE_TIME }),
    'consent, two payments': consent({ scope: `${ONE_TIME} payment-shop.limit(,500)` }),
    'consent, from a card': consent({ scope: 'operation-details payment-p2p money-source("card")' }),
    'consent, instance': consent({ instanceName: 'anna@shop.example', returnsTo: 'com.example.shop:/back' }),
    'consent, earlier': consent(EARLIER),
    ...Object.fromEntries(
      Object.entries(texts.outcomes.on)
        .filter(([outcome]) => !['stale', 'not_stopped'].includes(outcome))
        .map(([outcome, text]) => [
          `consent after ${outcome}`,
          consent({ undone: withValues(text, { client: 'Demo Shop', name: 'Anna Petrova', login: 'anna' }) }),
        ]),
    ),
    'consent after allowed, with the code': consent({
      undone: withValues(texts.outcomes.on.allowed, { client: 'Demo Shop' }),
      onward: `/oauth/return?${REQUEST}&decision=signed.decision`,
    }),
    'consent, new to the user': consent({ firstSeen: true, client: { site: 'https://demo.example/' } }),
    'consent, no payment password': consent({ hasPaymentPassword: false }),
    'consent, no payment password at a provider': consent({ hasPaymentPassword: false }, null, {
      provider: AT_PROVIDER,
    }),
    'consent, a payment password is required': consent({
      hasPaymentPassword: false,
      requiresPaymentPassword: true,
    }),
    'consent, a payment password is missing': {
      ...consent({ hasPaymentPassword: false, requiresPaymentPassword: true }),
      error: texts.consent.needsPassword,
    },
    'consent, a bank without sources of money': consent({}, null, { catalogue: BANK }),
    'consent, another connection': consent({ instanceName: 'anna-phone', others: ['payment-shop'] }),
    'consent, thirty other connections': consent({
      others: Array(30).fill('payment-p2p.limit(1,123456.78)'),
    }),
    'consent, other one-time payments': consent({ others: [ONE_TIME, 'payment-shop.limit(,500)'] }),
    'consent, too many other connections': consent({ others: null }),
    'consent, reviewed': consent({ client: { site: 'https://www.shop.example/', reviewed: true } }),
    'consent, logo': consent({ client: { logo: LOGO.file } }),
    'consent, one right more': consent({ earlier: 'account-info payment-shop.limit(7,3000)' }),
    'consent, a raise of what is spent already': consent({
      earlier: 'payment-shop.limit(7,1500)',
      spent: spentOn({ 'payment-shop': ['1200', '1200', '2026-11-25'] }),
    }),
    'consent, nothing changes': consent({ earlier: access({}).authorizationRequest.scope }),
    'consent, lowered and dropped': consent({
      scope: 'account-info payment-p2p.limit(1,5000)',
      earlier: TWELVE,
    }),
    'consent, transfers': consent({ scope: TRANSFERS }),
    'consent, limits to lower': consent({ ...EARLIER, client: { userLimits: true } }),
    'consent, largest payment and last day': consent({ scope: FURTHER }),
    'consent, largest payments and last days': consent({
      scope: `account-info ${FURTHER} payment.to-account("41001").limit(1,500).until(2027-01-31)`,
      earlier: 'account-info payment-shop.limit(7,3000) payment.to-account("41001").limit(1,400)',
    }),
    'consent, largest payment and last day to lower': consent(
      { scope: 'payment-shop.limit(7,5000)', client: { userLimits: true } },
      null,
      { furtherLimits: FURTHER_LIMITS },
    ),
    'consent, largest payments that can’t be granted': consent(
      { scope: `${FURTHER} payment-p2p.limit(1,500).until(2026-11-30)`, client: { userLimits: true } },
      {
        limits: new Map([
          [0, { sum: '2000', each: '5000', until: '2026-12-20' }],
          [1, { sum: '500', each: HOSTILE, until: '' }],
        ]),
        problems: new Map([
          [0, { each: 'higher_than_asked' }],
          [1, { each: 'not_a_sum' }],
        ]),
      },
      { furtherLimits: FURTHER_LIMITS },
    ),
    'confirm, largest payment and last day': confirm({ scope: FURTHER }),
    'receipt, largest payments and last days': receipt({ scope: `${FURTHER} payment-p2p.limit(1,500)` }),
    'consent, limits that can’t be granted': consent(
      { client: { userLimits: true }, scope: TWELVE },
      {
        limits: new Map(['a lot', '300', '1,000', HOSTILE, '0'].map((sum, index) => [index + 4, { sum }])),
        problems: new Map([
          [4, { sum: 'higher_than_asked' }],
          [6, { sum: 'too_many_decimals' }],
          [7, { sum: 'not_a_sum' }],
          [8, { sum: 'not_above_zero' }],
        ]),
      },
    ),
    'consent, hostile': consent(HOSTILE_ASKED),
    'consent, long': consent(LONG_ASKED),
    'consent, right to left': consent(RIGHT_TO_LEFT),

    ...deadEndSamples(texts),
    'error, explained': {
      ...errorSample('no_rights')(texts),
      explained: { rule: 'The parameter scope is missing.', remedy: 'docs/integrate/guide.md has requests.' },
    },
    'error, hostile': {
      ...errorSample('no_rights')(texts),
      title: HOSTILE,
      text: HOSTILE,
      fault: HOSTILE,
      next: HOSTILE,
      passOn: HOSTILE,
      reference: LONG_WORD,
      link: { href: `/"${HOSTILE}`, text: HOSTILE },
      explained: { rule: LONG_WORD, remedy: HOSTILE },
    },
    'notice, hostile': noticeSample({ title: LONG_WORD, text: HOSTILE }, [
      { href: `/"${HOSTILE}`, text: HOSTILE },
    ]),

    account: account([connected('Demo Shop', [shop, tablet]), diary]),
    'account, some of it is spent': account([
      connected('Demo Shop', [
        authorization(null, 'payment-shop.limit(7,5000) payment-p2p.limit(30,900)', {
          spent: spentOn({
            'payment-shop': ['1200', '800', '2026-11-30'],
            'payment-p2p': ['900.50', '900.50', '2026-12-20'],
          }),
        }),
      ]),
    ]),
    'account, empty': account([]),
    'account, last one disconnected': account([], disconnected()),
    'account, one of several disconnected': account(demoShop, disconnected('Demo Shop, anna-tablet')),
    'account, not disconnected': account([diary], { undone: texts.outcomes.on.stale }),
    'account after too_many_decisions': account([diary], {
      undone: texts.outcomes.on.too_many_decisions,
    }),
    'account, one is blocked, one ends soon': account([
      connected('Demo Shop', [shop], { isBlocked: true }),
      connected('Spending Diary', [authorization(null, READ_ONLY, { expiresSoon: true })]),
    ]),
    'account, blocked': account([connected('Demo Shop', [shop, tablet], { isBlocked: true })]),
    'account, a part of many connections': account(
      [connected('Demo Shop', readers, { live: 1000, spending: null, canSpend: true })],
      {
        part: { ...NO_PART, application: CLIENT.clientId, older: 'x' },
        older: '/oauth/account?application=x&older=y',
      },
    ),
    'account, many applications': account(
      [
        row('Demo Shop', ['payment-shop.limit(7,5000)'], { live: 16 }),
        row('Market', ['payment-shop.limit(7,3000)', 'payment-p2p.limit(7,500)'], { lastUsedOn: null }),
        ...Array.from({ length: 8 }, (_, n) => row(`Shop ${n + 1}`, [ONE_TIME], { live: 1 })),
        row(LONG_NAME, [], { isBlocked: true }),
        row(LONG_WORD, []),
        row(HOSTILE, []),
        row(HEBREW, [ONE_TIME], { isBlocked: true, canSpend: false }),
        ...Array.from({ length: 6 }, (_, n) => row(`Diary ${n + 1}`, [])),
      ],
      { all: 120, spending: 10, isSearchable: true, older: '/oauth/account?older=20' },
    ),
    'account, applications found': account([row('Demo Shop', [ONE_TIME]), row('The Shop', [])], {
      ...{ all: 120, spending: 1, isSearchable: true, part: { ...NO_PART, search: 'shop' } },
    }),
    'account, no application found': account([], {
      ...{ all: 21, spending: 0, isSearchable: true, part: { ...NO_PART, search: HOSTILE } },
    }),
    'account, several that spend': account([
      connected('Demo Shop', [tablet, authorization('anna-phone', 'payment-p2p.limit(30,15000)')]),
      connected('Ticket Office', [
        authorization('anna-1', ONE_TIME),
        authorization('anna-2', ONE_TIME),
        authorization('anna-3', READ_ONLY),
      ]),
      connected('Corner Café', [authorization('anna-1', ONE_TIME), authorization('anna-2', READ_ONLY)]),
      connected('Market', [shop], { live: 21 }),
    ]),
    'account, full': account(
      [
        connected(LONG_NAME, [authorization(LONG_WORD, TWELVE)], { isBlocked: true, live: 2 }),
        connected('<b>&amp;', [authorization(HOSTILE, READ_ONLY)], { live: 21 }),
        connected(HEBREW, [authorization(ARABIC, ONE_TIME)], { live: 37 }),
        diary,
        ...[1, 2, 3].map((n) => connected(`Shop ${n}`, [shop])),
      ],
      {
        userName: ARABIC,
        userLogin: LONG_WORD.slice(0, 64),
        ...disconnected(`${HEBREW}, ${LONG_WORD}`),
      },
    ),
    'account, one long and hostile': account(
      [connected(HOSTILE, [authorization(HOSTILE, TWELVE), authorization(LONG_WORD, ONE_TIME)])],
      {
        ...disconnected(`${HOSTILE}, ${HOSTILE}`),
        warnings: warnings(['payment_confirmed', 'replayed'], { clientName: HOSTILE, network: null }),
      },
    ),

    'account, warned': account(demoShop, { warnings: warnings(['signed_in', 'payment_confirmed']) }),
    'account, warned of a payment': account(demoShop, { warnings: warnings(['provider_confirmed']) }),
    'account, warned of a code used twice': account(demoShop, { warnings: warnings(['replayed']) }),
    'account, warned of much': account([connected('Demo Shop', [shop, tablet]), diary], {
      warnings: warnings(['user_password_set', 'replayed', 'payment_confirmed'], {}, true),
    }),
    'account, everything stopped': account([], {
      title: texts.stop.titleDone,
      done: texts.stop.done,
      ways: passwordLinks(words, true),
    }),
    'account, not everything stopped': account([diary], {
      title: texts.stop.titleUndone,
      ways: [{ href: '/oauth/account/stop', text: `${texts.stop.title}…` }],
      undone: texts.stop.undone,
    }),
    stop: stop(),
    'stop, or less': stop({ offersLess: true, endOthersToken: 'end-others.token' }),
    'stop, or less, signed in only here': stop({ offersLess: true }),
    'stop, or less, passwords at a provider': stop({
      ...{ offersLess: true, endOthersToken: 'end-others.token', changesPassword: false },
    }),
    'stop after stale': stop({ undone: texts.outcomes.on.stale }),
    'stop after not_stopped': stop({ undone: texts.outcomes.on.not_stopped }),
    history: history({
      events: told([
        eventOf('approved_again', { at: new Date('2026-11-22T08:05:00Z'), confirmedBy: 'payment_password' }),
        eventOf('approved', { confirmedBy: 'provider' }),
        ...HISTORY_KINDS.map((kind) => eventOf(kind, {})),
      ]),
      older: '/oauth/account/history?from=1-1',
    }),
    'history, hostile': history({
      events: told([
        eventOf('approved', { clientName: HOSTILE, instanceName: HOSTILE }),
        eventOf('replayed', { clientName: HOSTILE, network: null }),
        eventOf('approved_again', { clientName: LONG_WORD }),
        eventOf('revoked_by_user', { clientName: LONG_NAME, instanceName: LONG_WORD }),
        eventOf('rejected', { clientName: HEBREW, instanceName: ARABIC }),
        eventOf('revoked_by_operator', { clientName: null, network: null }),
      ]),
      isLater: true,
    }),
    'history, empty': history(),

    approval: approval(`account-info operation-history ${FURTHER}`, {
      instanceName: 'anna-phone',
      live: authorization('anna-phone', FURTHER, {
        spent: spentOn({ 'payment-shop': ['1200', '800', '2026-11-30'] }),
      }),
    }),
    'approval, reads only': approval(READ_ONLY, {
      confirmedBy: null,
      live: authorization(null, READ_ONLY, { lastUsedOn: null }),
    }),
    'approval, several that spend, blocked now': approval(TRANSFERS, {
      confirmedBy: 'provider',
      live: authorization(null, TRANSFERS, { isBlocked: true }),
    }),
    'approval, replaced': approval(ONE_TIME, endedBy('approved_again')),
    'approval, disconnected': approval(ONE_TIME, endedBy('revoked_by_user')),
    'approval, of a deleted application': approval(READ_ONLY, {
      ...{ clientName: null, network: null, browser: null, system: null, confirmedBy: null },
      ...endedBy('revoked_by_operator', { clientName: null }),
    }),
    'approval, its time is over': approval(ONE_TIME),
    'approval, hostile': approval(TWELVE, {
      ...{ clientName: HOSTILE, instanceName: HOSTILE },
      live: authorization(HOSTILE, TWELVE, { clientName: HOSTILE }),
    }),
    'approval, long': approval(TWELVE, {
      ...{ clientName: LONG_NAME, instanceName: LONG_WORD },
      ...endedBy('revoked_by_application', { clientName: LONG_WORD }),
    }),
    'approval, right to left': approval(`payment.to-pattern("${HEBREW}").limit(7,3000)`, {
      ...{ clientName: HEBREW, instanceName: ARABIC },
      live: authorization(ARABIC, ONE_TIME, { clientName: HEBREW }),
    }),

    security: security([{ ...thisSession, seenAt: new Date('2026-11-22T08:05:00Z') }, session(), session()]),
    'security, warned': security([thisSession, session()], {
      warnings: warnings(['payment_password_guessed', 'password_guessed', 'payment_confirmed']),
    }),
    'security, this browser only': security([{ ...thisSession, network: null }], {
      passwords: passwordLinks(words, false),
      isUnguarded: true,
      done: texts.security.changed,
      ways: [{ href: '/oauth/account', text: texts.account.title }],
    }),
    'security, an unknown device': security(
      [thisSession, session({ browser: null, system: null, seenAt: new Date('2026-11-22T06:05:00Z') })],
      { undone: texts.outcomes.on.stale },
    ),
    'security, passwords at a provider': security([thisSession], { passwords: [] }),
    'security, ended': security([thisSession], { done: texts.security.ended }),

    password: password(),
    'password, the payment password': password(paying),
    'password, a first payment password': password(first),
    ...Object.fromEntries(
      Object.entries(texts.security.problems).map(([problem, text]) => [
        `password, ${problem}`,
        password({ error: text, wrong: 'new' }),
      ]),
    ),
    'password, wrong': password({ error: texts.security.oldIsWrong }),
    'password, the payment password wrong': password({ ...paying, error: texts.confirm.wrong }),
  };
}
