import { describe, expect, it } from 'vitest';
import { perform } from '../../../src/operations/operation.ts';
import * as resources from '../../../src/operations/resources.ts';
import { secretStatements } from '../../../src/store/common/secrets.ts';
import { flowAt } from '../../contract/flowAt.ts';
import { basic } from '../../support/http/tokenRequests.ts';
import { agree, registerResource, removeResource, setResourceStatus } from '../../support/operators.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const { pool } = server.database;
const olga = { db: pool, operator: { name: 'olga' } };

const { agent, tokenFor } = await flowAt(server);
const token = await tokenFor(await server.createClient());

const register = () => registerResource(pool, 'payment API', 'olga');
type Known = Awaited<ReturnType<typeof register>>;
const ask = async ({ resourceId, resourceSecret }: Known) => {
  const headers = basic(resourceId, resourceSecret);
  const { status, body } = await agent.post('/oauth/introspect', { token }, headers);
  return { status, body };
};
const wrongSecret = async () => ask({ ...(await register()), resourceSecret: 'wrong' });

describe('a resource server', () => {
  it('has several secrets at a time, and a retired one is refused like a wrong one [resourceSecrets-1]', async () => {
    const first = await register();
    const { resourceId } = first;
    const added = await perform(resources.secret.add, olga, { resourceId });
    const second = { resourceId, resourceSecret: String(added.resourceSecret) };
    for (const secret of [first, second]) expect((await ask(secret)).body).toContain('"active":true');
    const [one] = await secretStatements.resource.list(pool, { ownerId: resourceId });
    await perform(resources.secret.retire, olga, { resourceId, secretId: one?.secretId ?? '' });
    expect(await ask(first)).toEqual(await wrongSecret());
    const last = { resourceId, secretId: added.secretId };
    await expect(perform(resources.secret.retire, olga, last)).rejects.toThrow('not confirmed');
    expect((await ask(second)).status).toBe(200);
    await perform(resources.secret.retire, { ...olga, confirm: agree }, last);
    expect(await ask(second)).toEqual(await wrongSecret());
  });

  it('is refused, as with a wrong secret, while it is blocked and once it is deleted', async () => {
    const resource = await register();
    for (const status of ['blocked', 'blocked', 'active', 'active'] as const) {
      await setResourceStatus(pool, resource.resourceId, status, 'olga');
      if (status === 'blocked') expect(await ask(resource)).toEqual(await wrongSecret());
      else expect((await ask(resource)).status).toBe(200);
    }
    expect(await removeResource(pool, resource.resourceId, 'olga')).toMatchObject({ status: 'deleted' });
    expect(await ask(resource)).toEqual(await wrongSecret());
    expect(await removeResource(pool, resource.resourceId, 'olga')).toBeNull();
    const events = `select kind from audit_events where resource_id = $1 and operator = 'olga' order by at`;
    const { rows } = await pool.query(events, [resource.resourceId]);
    const kinds = ['created', 'secret_added', 'blocked', 'unblocked', 'deleted'];
    expect(rows).toEqual(kinds.map((kind) => ({ kind: `resource_${kind}` })));
  });
});
