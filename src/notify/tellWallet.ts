import type pg from 'pg';
import { actOf } from '../http/describe/describeGranted.ts';
import { describeDevice, describeNetwork } from '../http/describe/describeWarnings.ts';
import { stripLanguageMarks } from '../languages/foreign.ts';
import { isolated } from '../languages/formats.ts';
import { type Languages, type Texts, withValues } from '../languages/languages.ts';
import { describeRights, type RightTexts } from '../languages/rights.ts';
import { formatReceiptNumber } from '../rules/account/receiptNumber.ts';
import { tokenLifetimeFrom } from '../rules/common/lifetimes.ts';
import { truncateNetwork } from '../rules/common/network.ts';
import { hasSpendingRight, parseScope } from '../rules/scope/scope.ts';
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
  expired: 'ended',
  replayed: 'ended',
  revoked_by_user: 'ended',
  revoked_by_application: 'ended',
  revoked_by_operator: 'ended',
};

/** A message to a user, ready to send, in the user's language, else the service's first; null for none, and for a deleted user. */
export async function tellWallet(
  pool: pg.Pool,
  event: AuditEvent,
  settings: WalletSettings,
): Promise<Webhook | null> {
  const { id, at, outcome, userId, login, externalId } = event;
  const kind = KINDS[outcome];
  const detail = (event.detail ?? {}) as Readonly<Record<string, string | boolean>>;
  if (kind === undefined || userId === null || login === null || detail.known_device === true) return null;
  const language =
    settings.languages.find((await findLanguage(pool, { userId }))?.language) ?? settings.languages.all[0];
  if (language === undefined) return null;
  const { texts } = language;
  const { formats, messages } = texts;
  // `maintain` writes later that a token's time is over.
  const ended = typeof detail.ends_at === 'string' ? new Date(detail.ends_at) : at;
  const isApproval = kind === 'allowed' || kind === 'replaced';
  const number = isApproval && event.reference !== null ? formatReceiptNumber(at, event.reference) : '';
  const link = [`${settings.baseUrl}/oauth/account/history`, number].filter(Boolean).join('/');
  const values = {
    client: event.clientName ?? texts.history.deletedClient,
    time: formats.time(ended, settings.timeZone),
    device: describeDevice({ browser: textOr(detail.browser), system: textOr(detail.system) }, texts),
    network:
      describeNetwork(event.address && truncateNetwork(event.address), texts) ??
      texts.warnings.unknownNetwork,
    which: outcome.startsWith('payment') ? 'payment' : 'sign_in',
    confirmed: textOr(detail.confirmed_by) ?? 'none',
    by: outcome,
    number,
    link,
    ...describeAccess(event, settings, { ...settings, language, texts }),
    ...(kind === 'ends_soon' && { day: formats.day(ended, settings.timeZone) }),
  };
  const plain = (text: string) => stripLanguageMarks(text).replace(isolated(link), link);
  const { subject, text } = messages[kind] as Record<'subject' | 'text', (given: typeof values) => string>;
  const said = { subject: plain(withValues(subject, values)), text: plain(withValues(text, values)), link };
  const user = { user_id: userId, login, external_id: externalId };
  return { id, body: { id, kind, at, ...user, language: language.tag, ...said } };
}

const textOr = (value: string | boolean | undefined) => (typeof value === 'string' ? value : null);

/** What was allowed by an event: in one sentence, with its end, and the most that it can cost. */
function describeAccess(
  { scope, at }: AuditEvent,
  { currency, timeZone }: WalletSettings,
  locale: RightTexts,
) {
  const { formats, request } = locale.texts;
  const rights = scope === null ? [] : parseScope(scope, currency);
  const lifetime = tokenLifetimeFrom(at);
  const powers = describeRights(rights, locale).filter(({ isSource }) => !isSource);
  const acts = powers.map((right) => {
    const act = actOf(right, locale.texts);
    return right.limit === null ? act : `${act} (${formats.inSentence(right.limit)})`;
  });
  const spends = hasSpendingRight(rights);
  const { daysLeft, lastDay } = spendingDays(rights, lifetime);
  return {
    acts: formats.allOf(acts),
    day: spends && lastDay !== null ? formats.utcDay(lastDay) : formats.day(lifetime.expiresAt, timeZone),
    spends: spends ? 'true' : 'false',
    total: spends
      ? request.cost.total({ amount: formats.amount(mostWithin(rights, daysLeft, lifetime)) })
      : '',
  };
}
