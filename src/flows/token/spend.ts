import type { Caller } from '../../rules/common/caller.ts';
import { OverloadedError } from '../../rules/common/error.ts';
import { endOfDay } from '../../rules/common/lifetimes.ts';
import { hundredths, moneyOf } from '../../rules/common/money.ts';
import type { Credentials } from '../../rules/request/clientCredentials.ts';
import { moneySources, type RightJson, rightData } from '../../rules/scope/rightData.ts';
import { parseScopeCached } from '../../rules/scope/scope.ts';
import { budgetOf, type Payment, payingRight } from '../../rules/spending/payment.ts';
import { hexOf, sha256 } from '../../secrets/digest.ts';
import { formatUuid, parseToken, UUID } from '../../secrets/tokens.ts';
import { emit } from '../../signals/events.ts';
import { findToken } from '../../store/token/introspection.ts';
import { type ReservationResult, releasePayment, reservePayment } from '../../store/token/payments.ts';
import type { Context } from '../common/context.ts';
import { type ActiveToken, introspect } from './introspect.ts';

/** An authorization that changes under a payment is read anew. */
const MAX_TRIES = 3;

/**
 * Reserves a payment within the limits of a token's rights: none is reserved after the answer of a revocation. A repeat of the same
 * key and payment gets the same verdict. @throws {OverloadedError}
 * @returns the answer of {@link introspect} with the verdict; `known` for a caller that is not an active resource server
 */
export async function spend(
  context: Context,
  credentials: Credentials,
  accessToken: string,
  payment: Payment,
  caller: Caller,
) {
  const { hash } = parseToken('token', accessToken);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const token = await introspect(context, credentials, accessToken);
    if ('known' in token || !token.active) return token;
    // Also those that have ended, which is an answer of its own.
    const granted = parseScopeCached(token.scope, context.currency);
    const right = payingRight(payment, rightData(granted));
    const refusal = refusalOf(payment, right, moneySources(granted));
    const result = await reservePayment(context.db, {
      ...reservationOf(payment, token, right),
      refusal,
      tokenHash: hash,
      decideBy: caller.decideBy,
    });
    const { verdict, isNew } = result;
    if (verdict === 'changed') continue;
    if (verdict === 'inactive') return { active: false } as const;
    if (isNew || verdict !== 'reserved') emit('payment', verdict);
    return { ...token, ...verdictOf(result, token.grant_id, payment.key), ...stateOf(right, result) };
  }
  throw new OverloadedError('the authorization changed while a payment was judged');
}

function reservationOf(payment: Payment, token: ActiveToken, right: RightJson | undefined) {
  const { key, amount, currency, source, payableBy } = payment;
  return {
    grantId: token.grant_id,
    scope: token.scope,
    key,
    paymentHash: sha256(JSON.stringify([amount, currency, source, payableBy])),
    budget: sha256(right === undefined ? '' : budgetOf(right)),
    amount,
    days: right?.period_days ?? null,
    most: right?.amount ?? '0',
    largest: right?.largest ?? null,
    endsAt: right?.until === undefined ? null : endOfDay(right.until),
  };
}

function refusalOf({ currency, source }: Payment, right: RightJson | undefined, sources: readonly string[]) {
  if (right === undefined) return 'no_right';
  if (right.currency !== currency) return 'wrong_currency';
  return sources.includes(source) ? null : 'wrong_source';
}

/** The payment's id is made of what names it, so a repeat has the same. */
function verdictOf({ verdict }: ReservationResult, grantId: string, key: string) {
  if (verdict === 'reserved')
    return { verdict, payment_id: formatUuid(hexOf(sha256(JSON.stringify([grantId, key]))).slice(0, 32)) };
  return verdict === 'released' || verdict === 'key_reused'
    ? { verdict }
    : { verdict: 'refused', reason: verdict };
}

/** The right that pays, what is left of its budget, and when a part of it is free again, in seconds since 1970. */
function stateOf(right: RightJson | undefined, { used, freeAgain }: ReservationResult) {
  if (right === undefined) return {};
  const free_again = freeAgain === null ? undefined : Math.ceil(freeAgain.getTime() / 1000);
  return { right, left: leftOf(right, used), free_again };
}

/** What a right may still spend; nothing if a new authorization has lowered it below that. */
function leftOf({ amount = '0', currency = '' }: RightJson, used: string | null): string {
  const left = hundredths({ sum: amount }) - hundredths({ sum: used ?? '0' });
  return moneyOf(left > 0n ? left : 0n, currency).sum;
}

/**
 * Gives a payment's amount back to its budget: the money did not move. By the grant, since the token may have ended meanwhile.
 * @returns `known` for a caller that is not an active resource server @throws {OverloadedError}
 */
export async function release(
  { db }: Context,
  { id, secret }: Credentials,
  payment: { readonly grantId: string; readonly key: string },
  { decideBy }: Caller,
) {
  const nothing = { grantId: null, tokenHash: sha256('') };
  const lookup = { callerId: id, secretHash: sha256(secret ?? ''), ...nothing };
  const { authenticated, known } = await findToken(db, lookup);
  if (!authenticated) return { known };
  if (!UUID.test(payment.grantId)) return { verdict: 'unknown' } as const;
  const { verdict } = await releasePayment(db, { ...payment, decideBy });
  return { verdict };
}
