import type pg from 'pg';
import { actOf } from '../http/describe/describeGranted.ts';
import { describeDevice, describeNetwork } from '../http/describe/describeWarnings.ts';
import { stripLanguageMarks } from '../languages/foreign.ts';
import { isolated, withoutIsolates } from '../languages/formats.ts';
import { type Languages, type Texts, withValues } from '../languages/languages.ts';
import { describeLimit, describeRight, type RightTexts } from '../languages/rights.ts';
import { formatReceiptNumber } from '../rules/account/receiptNumber.ts';
import { endOfDay, tokenLifetimeFrom } from '../rules/common/lifetimes.ts';
import { truncateNetwork } from '../rules/common/network.ts';
import { hasSpendingRight, parseScope } from '../rules/scope/scope.ts';
import { differenceOf, type RightChange } from '../rules/spending/difference.ts';
import { mostWithin, spendingDays } from '../rules/spending/worstCase.ts';
import type { AuditEvent } from '../store/operate/auditTrail.ts';
import { findLanguage } from '../store/operate/notifyCursors.ts';
import type { Webhook } from './deliver.ts';

export interface WalletSettings extends Pick<RightTexts, 'catalogue' | 'directory'> {
  readonly baseUrl: string;
  readonly currency: string;
  readonly languages: Languages;
  readonly timeZone: string;
}

type Kind = Exclude<keyof Texts['messages'], `@${string}`>;

/** The kinds of messages, by event. A sign-in in a known browser, and other events, say nothing. */
const KINDS: Readonly<Partial<Record<AuditEvent['outcome'], Kind>>> = {
  approved: 'allowed',
  approved_again: 'replaced',
  signed_in: 'new_browser',
  password_guessed: 'guessed',
  payment_password_guessed: 'guessed',
  password_changed: 'password_changed',
  payment_password_changed: 'password_changed',
  user_password_set: 'password_set',
  ends_soon: 'ends_soon',
  right_expired: 'right_ended',
  expired: 'ended',
  replayed: 'ended',
  revoked_by_user: 'ended',
  revoked_by_application: 'ended',
  revoked_by_operator: 'ended',
  lowered_by_operator: 'lowered',
};

/** A message to a user, ready to send, in the user's language, else the service's first; null for none, and for a deleted user. */
export async function tellWallet(
  pool: pg.Pool,
  event: AuditEvent,
  settings: WalletSettings,
): Promise<Webhook | null> {
  const { id, at, userId, login, externalId } = event;
  const kind = kindOf(event);
  if (kind === undefined || userId === null || login === null) return null;
  const { languages } = settings;
  const language = languages.find((await findLanguage(pool, { userId }))?.language) ?? languages.all[0];
  if (language === undefined) return null;
  const message = writeMessage(kind, event, { ...settings, language, texts: language.texts });
  const user = { user_id: userId, login, external_id: externalId };
  return { id, body: { id, kind, at, ...user, language: language.tag, ...message } };
}

const detailOf = ({ detail }: AuditEvent) => (detail ?? {}) as Readonly<Record<string, string | boolean>>;

function kindOf(event: AuditEvent): Kind | undefined {
  const { known_device, replaces } = detailOf(event);
  if (event.outcome === 'approved_again' && !replaces) return 'allowed';
  return known_device === true ? undefined : KINDS[event.outcome];
}

type Locale = RightTexts & WalletSettings;

function writeMessage(kind: Kind, event: AuditEvent, locale: Locale) {
  const { at, outcome, reference, address } = event;
  const { baseUrl, texts, timeZone } = locale;
  const detail = detailOf(event);
  // `maintain` writes later that a time is over.
  const endsAt = textOr(detail.ends_at);
  const isApproval = kind === 'allowed' || kind === 'replaced';
  const number = isApproval && reference !== null ? formatReceiptNumber(at, reference) : '';
  const link = [`${baseUrl}/oauth/account/history`, number].filter(Boolean).join('/');
  const values = {
    client: event.clientName ?? texts.history.deletedClient,
    time: texts.formats.time(endsAt === null ? at : new Date(endsAt), timeZone),
    device: describeDevice({ browser: textOr(detail.browser), system: textOr(detail.system) }, texts),
    network: describeNetwork(address && truncateNetwork(address), texts) ?? texts.warnings.unknownNetwork,
    which: outcome.startsWith('payment') ? 'payment' : 'sign_in',
    confirmed: textOr(detail.confirmed_by) ?? 'none',
    by: outcome,
    number,
    link,
    ...((isApproval || kind === 'lowered') && describeAccess(event, textOr(detail.replaces), locale)),
    ...(endsAt !== null && describeEnd(event, new Date(endsAt), locale)),
  };
  const { subject, text } = texts.messages[kind] as Record<'subject' | 'text', (of: typeof values) => string>;
  return { subject: toPlain(subject, values), text: toPlain(text, values), link };
}

/** Names are isolated only beside letters that are written from right to left: in short messages each character costs. */
function toPlain<Values extends { link: string }>(message: (of: Values) => string, values: Values): string {
  const text = stripLanguageMarks(withValues(message, values)).replace(isolated(values.link), values.link);
  return /\p{Script=Arabic}|\p{Script=Hebrew}/u.test(text) ? text : withoutIsolates(text);
}

const textOr = (value: string | boolean | undefined) => (typeof value === 'string' ? value : null);

/** What was allowed by an event: in one sentence, with its end, what is new or gone, and the most that it can cost. */
function describeAccess({ scope, at }: AuditEvent, replaced: string | null, locale: Locale) {
  const { currency, texts, timeZone } = locale;
  const { formats, request } = texts;
  const rights = parseScope(scope ?? '', currency);
  const changes = differenceOf(replaced === null ? [] : parseScope(replaced, currency), rights);
  const actsOf = (...wanted: readonly RightChange['change'][]) => {
    const acts = changes
      .filter(({ change }) => wanted.includes(change))
      .map((one) => describeAct(one, locale));
    return acts.length === 0
      ? 'none'
      : wanted.includes('dropped')
        ? formats.oneOf(acts)
        : formats.allOf(acts);
  };
  const lifetime = tokenLifetimeFrom(at);
  const { daysLeft, lastDay } = spendingDays(rights, lifetime);
  const spends = hasSpendingRight(rights);
  const most = spends && formats.amount(mostWithin(rights, daysLeft, lifetime));
  return {
    acts: actsOf('new', 'raised', 'lowered', 'changed', 'unchanged'),
    added: actsOf('new'),
    dropped: actsOf('dropped'),
    changed: changes.some(({ change }) => change !== 'unchanged') ? 'true' : 'false',
    day: spends && lastDay !== null ? formats.utcDay(lastDay) : formats.day(lifetime.expiresAt, timeZone),
    spends: spends ? 'true' : 'false',
    total: most ? request.cost.total({ amount: most }) : '',
  };
}

/** For example “pay any shop (at most RUB 9,000 in any 7 days, before: at most RUB 5,000 in any 7 days)”. */
function describeAct({ change, right, before }: Omit<RightChange, 'after'>, locale: Locale): string {
  const { formats, request } = locale.texts;
  const described = describeRight(right, locale);
  const earlier = change === 'unchanged' || before === null ? null : describeLimit(before, locale.texts);
  const limits = [
    described.limit === null ? [] : formats.inSentence(described.limit),
    earlier === null
      ? []
      : formats.inSentence(request.changes.before({ limit: formats.inSentence(earlier) })),
  ].flat();
  const act = actOf(described, locale.texts);
  return limits.length === 0 || change === 'dropped' ? act : `${act} (${limits.join(', ')})`;
}

/** The day on which an authorization ends, or a `part` of its rights, which `acts` says. */
function describeEnd({ scope }: AuditEvent, endsAt: Date, locale: Locale) {
  const { currency, texts, timeZone } = locale;
  const { formats } = texts;
  const rights = parseScope(scope ?? '', currency);
  const ending = rights.filter(({ limit }) => limit?.until && +endOfDay(limit.until) === +endsAt);
  const [day] = ending.map(({ limit }) => limit?.until);
  if (day === undefined) return { part: 'false', acts: '', day: formats.day(endsAt, timeZone) };
  const acts = ending.map((right) => actOf(describeRight(right, locale), texts));
  return { part: 'true', acts: formats.oneOf(acts), day: formats.utcDay(day) };
}
