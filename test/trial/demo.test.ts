import { beforeEach, describe, expect, it } from 'vitest';
import { buildDemo } from '../../demo/src/app.ts';
import { type Payment, PaymentApi } from '../../demo/src/paymentApi.ts';
import { Recorder } from '../../demo/src/recorder.ts';
import { Sessions, tell } from '../../demo/src/sessions.ts';
import { ask } from '../../demo/src/story.ts';
import { parseWish } from '../../demo/src/wish.ts';
import type { BuildDemo } from '../../src/trial/startTrial.ts';

// The demo application over days, and with too much of everything.

const DAY_MS = 24 * 60 * 60 * 1000;

describe('the ledger of the payment API', () => {
  const payment: Payment = { to: 'shop', payee: '337', amount: '60', source: 'wallet' };
  const told = { active: true, grant_id: 'g', iat: 1, money_sources: ['wallet'], rights: [] as object[] };
  let now = 0;
  let payments: PaymentApi;

  beforeEach(() => {
    now = 1_800_000_000_000;
    payments = new PaymentApi(
      { server: 'http://server', resourceId: 'id', resourceSecret: 'secret' },
      () => now,
    );
  });

  /** Pays by a token of which the server says this. */
  async function pay(amount: string, said: object): Promise<string> {
    const answer = async () => Response.json({ ...told, ...said });
    return (await payments.pay('token', { ...payment, amount }, answer)).verdict;
  }

  it('looks back from each payment, so many times 24 hours and not a moment more', async () => {
    const week = { rights: [{ right: 'payment-shop', period_days: 7, amount: '100', currency: 'RUB' }] };
    expect(await pay('60', week)).toBe('paid');
    now += 7 * DAY_MS - 1;
    expect(await pay('60', week)).toBe('limit_exceeded');
    now += 1;
    expect(await pay('60', week)).toBe('paid');
    expect(await pay('40.01', week)).toBe('limit_exceeded');
  });

  it('allows another one-time payment when the user allowed it anew', async () => {
    const once = { rights: [{ right: 'payment-shop', amount: '60', currency: 'RUB' }] };
    expect(await pay('60', once)).toBe('paid_once');
    expect(await pay('60', once)).toBe('used_up');
    expect(await pay('60', { ...once, iat: 2 })).toBe('paid_once');
  });

  it('counts each grant by itself, and each right', async () => {
    const rights = [
      { right: 'payment.to-pattern', target: '337', period_days: 1, amount: '60', currency: 'RUB' },
      { right: 'payment-shop', period_days: 1, amount: '60', currency: 'RUB' },
    ];
    expect(await pay('60', { rights })).toBe('paid');
    expect(await pay('60', { rights })).toBe('limit_exceeded');
    expect(await pay('60', { rights: rights.slice(1) })).toBe('paid');
    expect(await pay('60', { rights, grant_id: 'another' })).toBe('paid');
  });

  it('lets nothing through when the server can’t say', async () => {
    const away = async () => new Response('', { status: 503 });
    await expect(payments.pay('token', payment, away)).rejects.toThrow('introspection: 503');
  });
});

it('takes the settings that trial mode gives, by their type too', async () => {
  const build: BuildDemo = buildDemo;
  const server = 'http://server';
  const application = { server, clientId: 'c', clientSecret: 's', redirectUri: 'http://shop/callback' };
  const resource = { server, resourceId: 'r', resourceSecret: 's' };
  const users = [{ login: 'anna', name: 'Anna', password: 'p', paymentPassword: null }] as const;
  const app = await build({ url: 'http://shop', application, resource, users, timeZone: 'UTC' });
  const { body } = await app.inject({ url: '/', headers: { host: 'shop' } });
  expect(body).toContain('anna');
});

describe('what the demo application keeps', () => {
  it('are the fifty browsers that came last', () => {
    const sessions = new Sessions();
    const ids = Array.from({ length: 50 }, () => sessions.open()[0]);
    sessions.find(ids[0]); // this one is used again
    sessions.open();
    expect(sessions.find(ids[0])).not.toBeNull();
    expect(sessions.find(ids[1])).toBeNull();
    expect(sessions.find(undefined)).toBeNull();
  });

  it('are the thirty last messages of a story', () => {
    const [, session] = new Sessions().open();
    ask(session, { server: 's', clientId: 'c', clientSecret: 'x', redirectUri: 'r' });
    const { story } = session;
    for (let count = 0; count < 100 && story !== null; count += 1) {
      tell(story, 'allows', 'paymentsToServer', { sent: { line: `${count}` }, received: null });
    }
    expect(story?.messages.map(({ sent }) => sent.line)).toEqual(
      Array.from({ length: 30 }, (_, index) => `${index + 70}`),
    );
  });

  it('is no more of a form than a page needs', () => {
    const long = 'x'.repeat(30_000);
    const wish = parseWish(
      new URLSearchParams({ scope: long, composed: '', instance_name: long, shop: long }),
    );
    expect(wish.scope.length).toBe(4000);
    expect(wish.instance.length).toBe(300);
    expect(wish.details.shop?.length).toBe(300);
  });

  it('is no more of an answer than a page can show', async () => {
    const recorder = new Recorder(async () => new Response('y'.repeat(1_000_000)));
    await recorder.fetch('http://server/', {
      method: 'POST',
      body: new URLSearchParams({ token: 'z'.repeat(99) }),
    });
    expect(recorder.last?.received?.text?.length).toBe(6000);
    expect(recorder.last?.sent.fields).toEqual([['token', `${'z'.repeat(14)}…zzzz`]]);
  });
});
