import { afterEach, expect, expectTypeOf, it, vi } from 'vitest';
import { buildDemo } from '../../demo/src/app.ts';
import { PaymentApi } from '../../demo/src/paymentApi.ts';
import { Recorder } from '../../demo/src/recorder.ts';
import { Sessions, type Story } from '../../demo/src/sessions.ts';
import { ask, spend } from '../../demo/src/story.ts';
import type { BuildDemo } from '../../src/trial/startTrial.ts';

// The demo application without an answer, and the limits of its memory.

afterEach(() => {
  vi.unstubAllGlobals();
});

it('the demo application pays nothing while the server gives no answer', async () => {
  const [, session] = new Sessions().open();
  ask(session, { server: 's', clientId: 'c', clientSecret: 'x', redirectUri: 'r' });
  const story = session.story as Story;
  const payments = new PaymentApi({ server: 'http://server', resourceId: 'id', resourceSecret: 'secret' });
  const token = { value: 'token', expiresAt: new Date(), instance: '' };
  const answers = [async () => new Response('', { status: 503 }), async () => Promise.reject(new Error())];
  const payment = { to: 'shop', payee: '337', amount: '60', currency: 'RUB', source: 'wallet' } as const;
  for (const fetch of answers) {
    vi.stubGlobal('fetch', fetch);
    await spend(story, payments, token, payment);
  }
  const unanswered = { kind: 'unanswered', sent: { line: 'POST http://server/oauth/spend' } };
  expect(story.messages).toMatchObject([{ ...unanswered, received: null }, unanswered]);
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
