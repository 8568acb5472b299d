import { beforeEach, describe, expect, it } from 'vitest';
import { logOf } from '../attacks/refusals.ts';
import { signedIn } from '../support/account.ts';
import type { Agent, Answer } from '../support/agent.ts';
import { codeOf, decide, requestOf } from '../support/flow.ts';
import { newSecret } from '../support/ledger.ts';
import { startServer, type TestUser, useServer } from '../support/server.ts';

// PAYMENT_PASSWORD=required: a user without a payment password can't let an application spend by pressing Allow alone.

const server = await useServer({ requiresPaymentPassword: true });
const client = await server.createClient({ name: 'Demo Shop' });
const link = (scope: string) => `/oauth/authorize?${new URLSearchParams(requestOf(client, { scope }))}`;
const SPENDING = link('account-info payment-shop.limit(7,1500)');

let user: TestUser;
let agent: Agent;
beforeEach(async () => {
  user = await server.createUser({ paymentPassword: null });
  agent = await signedIn(server, user);
});

const linksOf = ({ body }: Answer) =>
  [...(/<main.*<\/main>/s.exec(body)?.[0] ?? '').matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

async function setPaymentPassword(): Promise<string> {
  const payment_password = newSecret();
  const form = await agent.get('/account/payment-password');
  const typed = { password: user.password, new_password: payment_password };
  expect((await agent.submit(form, 'new_password', typed)).status).toBe(303);
  return payment_password;
}

describe('a right that spends, of a user without a payment password', () => {
  it('is refused with a page that leads to setting one, back to the request, and to Reject', async () => {
    const answer = await agent.get(SPENDING);
    expect([answer.status, answer.page]).toEqual([403, 'notice']);
    expect(answer.text).toContain('You need a payment password');
    expect(answer.text).toContain('Demo Shop');
    const links = linksOf(answer);
    expect(links.map((href) => href.split('?')[0])).toEqual([
      '/account/payment-password',
      '/oauth/authorize',
      '/reject',
    ]);
    const asked = new URLSearchParams(SPENDING.split('?')[1]);
    for (const href of links.slice(1))
      expect([...new URLSearchParams(href.split('?')[1])]).toEqual([...asked]);
    expect(await logOf(server, answer)).toMatchObject({ rule_id: 'no_payment_password', status: 403 });
  });

  it('can be rejected', async () => {
    const page = await agent.get(linksOf(await agent.get(SPENDING))[2] ?? '');
    expect(page.page).toBe('reject');
    expect((await decide(agent, page, 'reject')).location).toMatch(/error=access_denied/);
  });

  it('goes on once one is set, which it then needs', async () => {
    const [set = '', request = ''] = linksOf(await agent.get(SPENDING));
    expect((await agent.get(set)).page).toBe('password');
    const payment_password = await setPaymentPassword();
    const asked = await agent.get(request);
    expect(asked.page).toBe('payment-password');
    const confirmed = await agent.submit(asked, 'payment_password', { payment_password });
    const consent = await agent.get(confirmed.location ?? '');
    expect(codeOf(await decide(agent, consent, 'allow'))).toMatch(/^assent_ac_/);
    expect((await agent.get(SPENDING)).page).toBe('payment-password');
  });

  it('is not shown as unguarded by the page of security', async () => {
    expect((await agent.get('/account/security')).body).not.toMatch(/class="note careful"/);
  });
});

it('what only reads needs none', async () => {
  const consent = await agent.get(link('account-info'));
  expect(codeOf(await decide(agent, consent, 'allow'))).toMatch(/^assent_ac_/);
});

it('PAYMENT_PASSWORD=optional: Allow alone lets an application spend, and the pages say so', async () => {
  const own = await startServer({ database: server.database });
  const there = await signedIn(own, user);
  const consent = await there.get(SPENDING);
  expect([consent.status, consent.page]).toEqual([200, 'consent']);
  expect((await there.get('/account/security')).body).toMatch(/class="note careful"/);
  expect(codeOf(await decide(there, consent, 'allow'))).toMatch(/^assent_ac_/);
  await own.close();
});
