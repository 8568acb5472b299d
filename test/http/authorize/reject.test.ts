import { beforeEach, describe, expect, it } from 'vitest';
import { follow, signedIn } from '../../support/account.ts';
import { codeOf, confirm, decide, press, reachConsent, requestOf, returnFrom } from '../../support/flow.ts';
import type { Agent, Answer } from '../../support/http/agent.ts';
import { type TestClient, type TestUser, useServer } from '../../support/server.ts';

// Who does not want what an application asks says so without a password, and one page has one answer.

const server = await useServer();
const SPENDING = 'account-info payment-shop.limit(7,1500)';

let client: TestClient;
let user: TestUser;
let browser: Agent;
beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop' });
  user = await server.createUser();
  browser = await signedIn(server, user);
});

const consentFor = (fields = {}) =>
  reachConsent(browser, requestOf(client, { scope: SPENDING, state: 's\n t', ...fields }), user);

/** Presses Allow on a page. @returns the page that asks for the payment password */
const allowed = async (consent: Answer) => follow(browser, await press(browser, consent, 'allow'));
const confirmed = async (page: Answer) =>
  returnFrom(browser, await confirm(browser, page, user.paymentPassword));

async function events(): Promise<unknown[]> {
  const { rows } = await server.database.pool.query(
    'select kind, scope from audit_events where client_id = $1 and user_id = $2 order by at',
    [client.clientId, user.userId],
  );
  return rows;
}

const backAtApplication = () => `${client.redirectUri}?state=s%0A%20t&error=access_denied`;
const REJECTED = { kind: 'rejected', scope: SPENDING };

describe('Reject', () => {
  it('redirects to the application at once, also for rights that spend', async () => {
    const page = await consentFor();
    expect(page.body).not.toContain('type="password"');
    expect(page.headers.get('content-security-policy')).not.toContain('form-action');
    const answer = await press(browser, page, 'reject');
    expect([answer.status, answer.location]).toEqual([302, backAtApplication()]);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await events()).toEqual([REJECTED]);
  });

  it('is shown on the request after Back from the application, which can be decided again', async () => {
    await press(browser, await consentFor(), 'reject');
    const back = await consentFor();
    expect(back.text).toContain('You have just rejected this request');
    expect(codeOf(await decide(browser, back, 'allow'))).toMatch(/^assent_ac_/);
  });
});

describe('two answers on one page', () => {
  it('reject if Reject came before the payment password, as the receipt says', async () => {
    const page = await consentFor();
    const asked = await allowed(page);
    expect((await press(browser, page, 'reject')).location).toBe(backAtApplication());
    const receipt = await follow(browser, await confirm(browser, asked, user.paymentPassword));
    expect(receipt.text).toMatch(/Rejected ?Corner Shop gets nothing from this request/);
    expect((await confirmed(asked)).location).toBe(backAtApplication());
    expect(await events()).toEqual([REJECTED]);
  });

  it('result in one answer when sent at the same time', async () => {
    const page = await consentFor();
    const asked = await allowed(page);
    const [allow, reject] = await Promise.all([confirmed(asked), press(browser, page, 'reject')]);
    const isRejected = reject.location === backAtApplication();
    if (isRejected) expect(allow.location).toBe(backAtApplication());
    else expect(codeOf(allow)).toMatch(/^assent_ac_/);
    expect(await events()).toEqual([isRejected ? REJECTED : { kind: 'approved', scope: SPENDING }]);
  });
});
