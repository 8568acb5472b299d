import { beforeEach, describe, expect, it } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { follow, signedIn } from '../../support/account.ts';
import { codeOf, confirm, decide, linkTo, press, requestOf, returnFrom } from '../../support/flow.ts';
import type { Agent, Answer } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { startServer, type TestUser, useServer } from '../../support/server.ts';

// PAYMENT_PASSWORD=required: a user without a payment password can't let an application spend by pressing Allow alone.

const server = await useServer({ requiresPaymentPassword: true });
const client = await server.createClient({ name: 'Demo Shop' });
const link = (scope: string) => linkTo(requestOf(client, { scope }));
const UNGUARDED = 'You have no payment password: pressing “Allow” is enough to let';
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

describe('a spending right of a user without a payment password', () => {
  const allow = async () => follow(agent, await press(agent, await agent.get(SPENDING), 'allow'));

  it('is refused after Allow with a link that sets one in a new tab and returns to the request', async () => {
    const consent = await agent.get(SPENDING);
    expect([consent.page, consent.text.includes('Allow…')]).toEqual(['consent', true]);
    const before = await rowsOf(server.database);
    const answer = await allow();
    expect([answer.status, answer.page]).toEqual([403, 'notice']);
    expect(answer.text).toContain('You need a payment password');
    expect(answer.text).toContain('Demo Shop');
    const [set, request = '', ...more] = linksOf(answer);
    expect([set, more]).toEqual(['/account/payment-password', []]);
    expect(answer.body).toMatch(/href="\/account\/payment-password" target="_blank"/);
    const { pathname, searchParams } = new URL(request, server.baseUrl);
    expect([pathname, ...searchParams]).toEqual([
      '/oauth/authorize',
      ...new URLSearchParams(SPENDING.split('?')[1]),
    ]);
    expect(await logOf(server, answer)).toMatchObject({ rule_id: 'no_payment_password', status: 403 });
    expect(await rowsOf(server.database)).toEqual(before);
  });

  it('can be rejected', async () => {
    const answer = await press(agent, await agent.get(SPENDING), 'reject');
    expect([answer.status, answer.location]).toEqual([302, expect.stringContaining('error=access_denied')]);
  });

  it('continues once one is set, at the same address or from the request, and then requires it', async () => {
    const { location } = await press(agent, await agent.get(SPENDING), 'allow');
    const [set = '', request = ''] = linksOf(await agent.get(location ?? ''));
    expect((await agent.get(set)).page).toBe('password');
    const paymentPassword = await setPaymentPassword();
    const again = await press(agent, await agent.get(request), 'allow');
    const shown = await follow(agent, again);
    const answer = await agent.get(location ?? '');
    expect([shown.page, answer.page]).toEqual(['confirm', 'confirm']);
    const receipt = await confirm(agent, answer, paymentPassword);
    expect(codeOf(await returnFrom(agent, receipt))).toMatch(/^assent_ac_/);
  });

  it('is not shown as unprotected on the security page', async () => {
    expect((await agent.get('/account/security')).text).not.toContain(UNGUARDED);
  });
});

it('PAYMENT_PASSWORD=optional: Allow alone permits spending, as the pages say', async () => {
  const own = await startServer({ database: server.database });
  const there = await signedIn(own, user);
  const consent = await there.get(SPENDING);
  expect([consent.status, consent.page]).toEqual([200, 'consent']);
  for (const path of [SPENDING, '/account/security'])
    expect((await there.get(path)).text).toContain(UNGUARDED);
  expect(codeOf(await decide(there, consent, 'allow'))).toMatch(/^assent_ac_/);
  await own.close();
});
