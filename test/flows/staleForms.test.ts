import { expect, it } from 'vitest';
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

it.each(Object.entries(CHANGES))(
  'a consent form older than %s decides nothing, nor does its confirmation',
  async (_what, change) => {
    const { client, user, agent } = await actorsAt(server);
    const code = await obtainCode(agent, requestOf(client), user);
    expectToken(await exchange(server, client, code));
    const consentFor = (fields: Record<string, string>) =>
      reachConsent(agent, requestOf(client, { state: 'old', ...fields }), user);
    const old = await consentFor({});
    const pressed = await send(agent, await consentFor({ scope: 'payment-shop' }), 'allow');
    const page = await follow(agent, pressed);
    expect(page.page).toBe('confirm');
    await change({ client, user, agent, code });
    const before = await rowsOf(server.database);
    for (const { status, location } of [
      await decide(agent, old, 'allow'),
      await confirm(agent, page, user.paymentPassword),
      await agent.get(pressed.location ?? ''),
    ])
      expect([status, location]).toEqual([303, expect.stringMatching(/authorize\?.*state=old/)]);
    expect(await rowsOf(server.database)).toBe(before);
  },
);
