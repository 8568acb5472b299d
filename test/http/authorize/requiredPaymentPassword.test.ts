import { expect, it } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { follow, signedIn } from '../../support/account.ts';
import { codeOf, confirm, linkTo, press, requestOf, returnFrom } from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

// PAYMENT_PASSWORD=required: a user without a payment password can't let an application spend by pressing Allow alone.

const server = await useServer({ requiresPaymentPassword: true });
const client = await server.createClient({ name: 'Demo Shop' });
const SPENDING = linkTo(requestOf(client, { scope: 'account-info payment-shop.limit(7,1500)' }));
const user = await server.createUser({ paymentPassword: null });
const agent = await signedIn(server, user);

const linksOf = ({ body }: Answer) =>
  [...(/<main.*<\/main>/s.exec(body)?.[0] ?? '').matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

it('a user without a payment password allows spending only once one is set, by the links of the refusal', async () => {
  const consent = await agent.get(SPENDING);
  expect([consent.page, consent.text.includes('Allow…')]).toEqual(['consent', true]);
  expect((await agent.get('/account/security')).text).not.toContain('pressing “Allow” is enough');
  const before = await rowsOf(server.database);
  const pressed = await press(agent, consent, 'allow');
  const refusal = await follow(agent, pressed);
  expect(await logOf(server, refusal)).toMatchObject({ rule_id: 'no_payment_password', status: 403 });
  expect(await rowsOf(server.database)).toEqual(before);

  const [set = '', request = ''] = linksOf(refusal);
  const queryOf = (link: string) => [...new URL(link, server.baseUrl).searchParams];
  expect(queryOf(request)).toEqual(queryOf(SPENDING));
  const paymentPassword = newSecret();
  const typed = { password: user.password, new_password: paymentPassword };
  expect((await agent.submit(await agent.get(set), 'new_password', typed)).status).toBe(303);
  const again = await follow(agent, await press(agent, await agent.get(request), 'allow'));
  const page = await follow(agent, pressed);
  expect([again.page, page.page]).toEqual(['confirm', 'confirm']);
  const receipt = await confirm(agent, page, paymentPassword);
  expect(codeOf(await returnFrom(agent, receipt))).toMatch(/^assent_ac_/);
});
