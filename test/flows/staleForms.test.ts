import { describe, expect, it } from 'vitest';
import { revokeAll } from '../../src/operations/grants.ts';
import { actorsAt, follow, press } from '../support/account.ts';
import { confirm, decide, obtainCode, reachConsent, requestOf, press as send } from '../support/flow.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

type Setting = Awaited<ReturnType<typeof actorsAt>> & { readonly code: string };

/** Everything that raises the revision of a grant: a page from before it is out of date. */
const CHANGES: Record<string, (at: Setting) => Promise<unknown>> = {
  'a newer approval': ({ agent, client, user }) =>
    obtainCode(agent, requestOf(client, { state: 'newer' }), user),
  'a disconnection by the user': async ({ agent }) =>
    press(agent, await agent.get('/account'), '/account/disconnect'),
  'a revocation by the operator': ({ client: { clientId } }) =>
    revokeAll({ db: server.database.pool, operator: 'tests', progress() {} }, { clientId }),
  'a replay that revoked the token': ({ client, code }) => exchange(server, client, code),
};

describe('a consent form older than', () => {
  it.each(Object.entries(CHANGES))('%s decides nothing', async (_what, change) => {
    const { client, user, agent } = await actorsAt(server);
    const code = await obtainCode(agent, requestOf(client), user);
    expectToken(await exchange(server, client, code));
    const old = await reachConsent(agent, requestOf(client, { state: 'old' }), user);
    await change({ client, user, agent, code });
    const answer = await decide(agent, old, 'allow');
    expect(answer.status).toBe(303);
    expect(answer.location).toContain('state=old');
  });

  it.each(Object.entries(CHANGES))('%s decides nothing when it is confirmed', async (_what, change) => {
    const { client, user, agent } = await actorsAt(server);
    const code = await obtainCode(agent, requestOf(client), user);
    expectToken(await exchange(server, client, code));
    const old = requestOf(client, { state: 'old', scope: 'payment-shop' });
    const pressed = await send(agent, await reachConsent(agent, old, user), 'allow');
    const page = await follow(agent, pressed);
    expect(page.page).toBe('confirm');
    await change({ client, user, agent, code });
    const before = await rowsOf(server.database);
    const request = [303, expect.stringMatching(/authorize\?.*state=old/)];
    const confirmed = await confirm(agent, page, user.paymentPassword);
    expect([confirmed.status, confirmed.location]).toEqual(request);
    const again = await agent.get(pressed.location ?? '');
    expect([again.status, again.location]).toEqual(request);
    expect(await rowsOf(server.database)).toBe(before);
  });
});
