import { OAuthError } from '../common/error.ts';
import { MAX_SCOPE_TEXT_CHARACTERS } from '../common/limits.ts';
import { hundredths, moneyOf } from '../common/money.ts';
import type { Parameters } from '../request/parameters.ts';
import { rightKeyOf } from '../request/scopeRules.ts';
import type { RightJson } from '../scope/rightData.ts';
import type { MoneySource } from '../scope/rights.ts';
import type { Right } from '../scope/scope.ts';

/** A payment that a resource server asks to reserve. */
export interface Payment {
  /** The application's name for it. */
  readonly key: string;
  /** An exact decimal, without zeros at its end. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
  readonly source: MoneySource;
  /** The rights that may pay it, the most specific first, by {@link rightKeyOf}. */
  readonly payableBy: readonly string[];
}

/** Reads a payment. @throws {OAuthError} `invalid_request`, with the parameter and what it must be */
export function parsePayment(form: Parameters): Payment {
  const key = requireForm(form, 'key', /^[\x21-\x7e]{1,128}$/, '1 to 128 visible ASCII characters');
  const sum = requireForm(form, 'amount', /^(?:0|[1-9]\d{0,11})(?:\.\d{1,2})?$/, 'a decimal such as 250.00');
  if (hundredths({ sum }) === 0n) throw wrong('amount', 'more than zero');
  const currency = requireForm(
    form,
    'currency',
    /^[A-Z]{3}$/,
    'a code of three capital letters, such as RUB',
  );
  const source = requireForm(form, 'source', /^(wallet|card)$/, 'wallet or card') as MoneySource;
  const { sum: amount } = moneyOf(hundredths({ sum }), currency);
  return { key, amount, currency, source, payableBy: rightsFor(form).map((right) => rightKeyOf(right)) };
}

function rightsFor(form: Parameters): readonly Right[] {
  const [shop, to, name] = [textOf(form, 'shop'), textOf(form, 'to'), textOf(form, 'right')];
  const type = form.get('type');
  if ([shop, to ?? name].filter((one) => one !== undefined).length !== 1)
    throw wrong('shop', 'the only receiver: send shop, or to with type, or right');
  if (type !== undefined && type !== 'account' && type !== 'phone' && type !== 'email')
    throw wrong('type', 'account, phone or email');
  if (name !== undefined) return [{ name, target: to, type }];
  if (shop !== undefined) return [{ name: 'payment.to-pattern', target: shop }, { name: 'payment-shop' }];
  return [{ name: 'payment.to-account', target: to, type: type ?? 'account' }, { name: 'payment-p2p' }];
}

function textOf(form: Parameters, name: string): string | undefined {
  const text = form.get(name);
  if (text === undefined || [...text].length <= MAX_SCOPE_TEXT_CHARACTERS) return text;
  throw wrong(name, `at most ${MAX_SCOPE_TEXT_CHARACTERS} characters`);
}

function requireForm(form: Parameters, name: string, pattern: RegExp, expected: string): string {
  const value = form.require(name);
  if (!pattern.test(value)) throw wrong(name, expected);
  return value;
}

const wrong = (parameter: string, expected: string) =>
  new OAuthError('wrong_payment', `The parameter ${parameter} must be ${expected}.`, { parameter });

/** A token's right that pays: the most specific one that covers the receiver (docs/integrate/resources.md). */
export function payingRight(payment: Payment, rights: readonly RightJson[]): RightJson | undefined {
  const limited = rights.filter(({ amount }) => amount !== undefined);
  const found = payment.payableBy.map((key) => limited.find((right) => budgetOf(right) === key));
  return found.find((right) => right !== undefined);
}

/** The same for a right in each authorization, whatever its limit. */
export function budgetOf({
  right,
  target,
  target_type,
}: Pick<RightJson, 'right' | 'target' | 'target_type'>) {
  return rightKeyOf({ name: right, target, type: target_type });
}
