import { isolated } from '../../languages/formats.ts';
import { type Texts, textIn } from '../../languages/languages.ts';
import { type DescribedRight, describeRights } from '../../languages/rights.ts';
import type { TokenLifetime } from '../../rules/common/lifetimes.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { type Client, logoPath } from '../../rules/request/client.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { mostWithin, spendingDays, worstCase } from '../../rules/spending/worstCase.ts';
import { displayHostOf, type PageLocale } from './describe.ts';
import type { DescribedChange } from './describeLimits.ts';

/** Rights as a user granted them, to confirm them, or to say so afterwards. */
export function describeGranted(
  rights: readonly Right[],
  { client, instanceName }: Pick<AuthorizationRequest, 'instanceName'> & { client: Pick<Client, 'name'> },
  lifetime: TokenLifetime,
  locale: PageLocale,
) {
  const { formats, request } = locale.texts;
  const lead = request.leadOf({ client: client.name });
  const described = describeRights(rights, locale).map((right) => ({ change: null, fields: [], ...right }));
  const money = describeMoney(rights, described, lead, lifetime, locale);
  const others = described.filter(({ spending, isSource }) => !spending && !isSource);
  const acts = formats.allOf(others.map((right) => actOf(right, locale.texts)));
  const also = acts === '' ? null : money === null ? `${lead} ${acts}` : request.also({ acts });
  const isAsked = rights.some(({ sources }) => sources);
  const most = money && { ...money, source: isAsked ? money.source : null, total: null };
  return { client: { name: client.name }, instanceName, money: most, also };
}

/** A right within a sentence, such as “pay the shop ‘42’”. */
export function actOf({ before, target, after, quotes }: DescribedRight, { formats }: Texts): string {
  const named = target === null ? '' : quotes.open + isolated(target.join(' ')) + quotes.close;
  return formats.inSentence(before) + named + after;
}

export interface LimitField extends Record<'name' | 'value' | 'label', string> {
  readonly problem: string | null;
  /** To choose from, the asked one first; null for a sum that is typed. */
  readonly options: readonly Record<'value' | 'text', string>[] | null;
}

export type RightOnPage = DescribedRight & {
  readonly change: DescribedChange | null;
  /** Of the limit that the user may lower. */
  readonly fields: readonly LimitField[];
};

/** The most that rights can spend, and the share of each; null for nothing. */
export function describeMoney(
  rights: readonly Right[],
  described: readonly RightOnPage[],
  lead: string | null,
  lifetime: TokenLifetime,
  { texts, timeZone }: PageLocale,
) {
  const worst = worstCase(rights, lifetime);
  if (worst === null) return null;
  const { formats, limits, request } = texts;
  const { cost } = request;
  const spending = described.filter((right) => right.spending);
  const isOnly = spending.length === 1;
  const { daysLeft, lastDay } = spendingDays(rights, lifetime);
  const day = lastDay === null ? formats.day(lifetime.expiresAt, timeZone) : formats.utcDay(lastDay);
  const total = { amount: formats.amount(mostWithin(rights, daysLeft, lifetime)) };
  const { each, currency = '' } = (isOnly && rights.find(({ limit }) => limit)?.limit) || {};
  const amount = formats.amount(worst);
  const source = described.find(({ isSource }) => isSource) ?? null;
  // Such a sum could never be spent: its period exceeds the days that are left.
  const [sum, period] =
    worst.days === null
      ? isOnly
        ? [cost.exactly({ amount }), cost.once({ day })]
        : [cost.upTo({ amount }), cost.onceEach({ day })]
      : worst.days > daysLeft
        ? [cost.upTo(total), cost.inAll({ day })]
        : [cost.upTo({ amount }), cost.until({ days: worst.days, day })];
  return {
    /** Only one right spends: its limit is the sum. */
    isOnly,
    lead,
    sum,
    period,
    /** Of the only right that spends; each of several has it in its line. */
    largest: each === undefined ? null : limits.largest({ amount: formats.amount({ sum: each, currency }) }),
    rights: spending,
    source,
    total: worst.days === null || worst.days > daysLeft ? null : cost.total(total),
  };
}

export function describeClient(client: Client, { brand, language, texts }: PageLocale) {
  const { name, site, reviewed } = client;
  return {
    name,
    site: site && displayHostOf(site),
    logo: logoPath(client),
    reviewed: reviewed ? texts.request.reviewed({ service: textIn(brand.name, language) }) : null,
  };
}
