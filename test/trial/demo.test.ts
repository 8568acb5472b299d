import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { buildDemo } from '../../demo/src/app.ts';
import { type Payment, PaymentApi, type Told } from '../../demo/src/paymentApi.ts';
import { Recorder } from '../../demo/src/recorder.ts';
import { Sessions, type Story } from '../../demo/src/sessions.ts';
import { ask, spend } from '../../demo/src/story.ts';
import type { BuildDemo } from '../../src/trial/startTrial.ts';

// The payment limits of the demo application over days, and the limits of its memory.

const DAY_MS = 24 * 60 * 60 * 1000;

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the payment API of the demo', () => {
  const week = { right: 'payment-shop', period_days: 7, amount: '100' };
  const told = { active: true, grant_id: 'g', iat: 1, money_sources: ['wallet'], rights: [week] };
  let now = 0;
  let payments: PaymentApi;

  beforeEach(() => {
    now = 1_800_000_000_000;
    const resource = { server: 'http://server', resourceId: 'id', resourceSecret: 'secret' };
    payments = new PaymentApi(resource);
  });

  /** Pays, by default from the wallet to a shop. @param said changes of the token's introspection @returns the verdict */
  function pay(amount: string, said: Partial<Told> = {}, payment: Partial<Payment> = {}): string {
    const whole: Payment = { to: 'shop', payee: '337', source: 'wallet', ...payment, amount };
    return payments.pay({ ...told, ...said }, whole, now).verdict;
  }

  it('counts the payments of a limit’s period, in days of 24 hours, exact to the millisecond', () => {
    expect(pay('60')).toBe('paid');
    now += 7 * DAY_MS - 1;
    expect(pay('60')).toBe('limit_exceeded');
    now += 1;
    expect(pay('60')).toBe('paid');
    expect(pay('40.01')).toBe('limit_exceeded');
    expect(pay('40.00')).toBe('paid');
    const more = { iat: 2, rights: [{ ...week, amount: '150' }] }; // a new authorization
    expect([pay('51', more), pay('50', more)]).toEqual(['limit_exceeded', 'paid']);
  });

  it('permits a one-time payment once, of exactly its amount, until the user allows it again', () => {
    const once = { rights: [{ right: 'payment-shop', amount: '60' }] };
    expect(pay('59', once)).toBe('other_sum');
    expect(pay('60', once)).toBe('paid_once');
    expect(pay('60', once)).toBe('used_up');
    expect(pay('60', { ...once, iat: 2 })).toBe('paid_once');
  });

  it('counts each grant and each right separately, and prefers the right for exactly the payee', () => {
    const rights = [week, { ...week, right: 'payment.to-pattern', target: '337', amount: '10' }];
    expect(pay('11', { rights })).toBe('limit_exceeded');
    expect(pay('10', { rights })).toBe('paid');
    expect(pay('100', { rights }, { payee: '338' })).toBe('paid');
    expect(pay('1', { rights }, { payee: '338' })).toBe('limit_exceeded');
    expect(pay('100', { rights, grant_id: 'another' }, { payee: '338' })).toBe('paid');
  });

  it.each<[what: string, amount: string, payment: Partial<Payment>, verdict: string]>([
    ['another payee', '1', { payee: '338' }, 'insufficient_scope'],
    ['an account instead of a phone number', '1', { to: 'account', payee: '7916' }, 'insufficient_scope'],
    ['another money source', '1', { to: 'phone', payee: '7916', source: 'card' }, 'other_source'],
    ['an amount of 0', '0.00', {}, 'invalid_amount'],
    ['more than two decimal places', '1.001', {}, 'invalid_amount'],
    ['an exponent in the amount', '1e3', {}, 'invalid_amount'],
  ])('refuses a payment with %s', (_what, amount, payment, verdict) => {
    const rights = [
      { ...week, right: 'payment.to-pattern', target: '337' },
      { ...week, right: 'payment.to-account', target: '7916', target_type: 'phone' },
    ];
    expect(pay(amount, { rights }, payment)).toBe(verdict);
  });

  it('refuses payments while introspection fails', async () => {
    const [, session] = new Sessions().open();
    ask(session, { server: 's', clientId: 'c', clientSecret: 'x', redirectUri: 'r' });
    const story = session.story as Story;
    const token = { value: 'token', expiresAt: new Date(), instance: '' };
    const answers = [async () => new Response('', { status: 503 }), async () => Promise.reject(new Error())];
    for (const fetch of answers) {
      vi.stubGlobal('fetch', fetch);
      await spend(story, payments, token, { to: 'shop', payee: '337', amount: '60', source: 'wallet' });
    }
    const sent = { line: 'POST http://server/oauth/introspect' };
    const unanswered = { kind: 'unanswered', sent };
    expect(story.messages).toMatchObject([{ ...unanswered, received: null }, unanswered]);
    expect(pay('100')).toBe('paid');
  });
});

it('the demo application has the TypeScript type that trial mode expects', () => {
  expectTypeOf(buildDemo).toExtend<BuildDemo>();
});

it('the demo application keeps the beginning of a long response in memory', async () => {
  vi.stubGlobal('fetch', async () => new Response('y'.repeat(1_000_000)));
  const recorder = new Recorder();
  await recorder.fetch('http://server/', { method: 'POST' });
  expect(recorder.last.received?.text?.length).toBe(6000);
});
