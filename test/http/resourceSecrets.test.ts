import { describe, expect, it } from 'vitest';
import { setStatus } from '../../src/flows/operators/blocking.ts';
import { registerResource, removeResource } from '../../src/flows/operators/resources.ts';
import { addSecret, retireSecret } from '../../src/flows/operators/secrets.ts';
import { listSecrets } from '../../src/store/secrets.ts';
import { Agent } from '../support/agent.ts';
import { obtainToken } from '../support/flow.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

const agent = new Agent(server.baseUrl);
const token = await obtainToken(agent, await server.createClient(), await server.createUser());

interface Known {
  readonly resourceId: string;
  readonly resourceSecret: string;
}

const register = (): Promise<Known> => registerResource(server.database.pool, 'payment API', 'olga');
const ask = async ({ resourceId, resourceSecret }: Known) => {
  const authorization = `Basic ${btoa(`${resourceId}:${resourceSecret}`)}`;
  const { status, body } = await agent.post('/oauth/introspect', { token }, { authorization });
  return { status, body };
};
const wrongSecret = async () => ask({ ...(await register()), resourceSecret: 'wrong' });

describe('a resource server', () => {
  it('has several secrets at a time; a retired one is as a wrong one', async () => {
    const { pool } = server.database;
    const first = await register();
    const { resourceId } = first;
    const added = await addSecret(pool, 'resource', resourceId, 'olga');
    const second = { resourceId, resourceSecret: added.secret };
    for (const secret of [first, second]) expect((await ask(secret)).body).toContain('"active":true');
    const [one] = await listSecrets(pool, 'resource', resourceId);
    const retire = (secretId = '', force = false) =>
      retireSecret(pool, 'resource', resourceId, secretId, force, 'olga');
    expect(await retire(one?.secretId)).toEqual({ found: true, retired: true });
    expect(await ask(first)).toEqual(await wrongSecret());
    expect((await ask(second)).status).toBe(200);
    expect(await retire(added.secretId)).toEqual({ found: true, retired: false });
    expect(await retire(added.secretId, true)).toEqual({ found: true, retired: true });
    expect(await ask(second)).toEqual(await wrongSecret());
  });

  it('is as one with a wrong secret while it is blocked, and once it is deleted', async () => {
    const { pool } = server.database;
    const resource = await register();
    await setStatus(pool, 'resource', resource.resourceId, 'blocked', 'olga');
    expect(await ask(resource)).toEqual(await wrongSecret());
    await setStatus(pool, 'resource', resource.resourceId, 'active', 'olga');
    expect((await ask(resource)).status).toBe(200);
    expect(await removeResource(pool, resource.resourceId, 'olga')).toBe(true);
    expect(await ask(resource)).toEqual(await wrongSecret());
    expect(await removeResource(pool, resource.resourceId, 'olga')).toBe(false);
    const { rows } = await pool.query(
      `select kind from audit_events where resource_id = $1 and operator = 'olga' order by at`,
      [resource.resourceId],
    );
    expect(rows.map(({ kind }) => kind)).toEqual([
      'resource_created',
      'resource_secret_added',
      'resource_blocked',
      'resource_unblocked',
      'resource_deleted',
    ]);
  });

  it('has the day noted on which each secret was last used, and only of the one that was', async () => {
    const { pool } = server.database;
    const resource = await register();
    const { resourceId } = resource;
    await addSecret(pool, 'resource', resourceId, 'olga');
    const used = async () =>
      (await listSecrets(pool, 'resource', resourceId)).map(({ lastUsedOn }) => lastUsedOn);
    await ask({ resourceId, resourceSecret: 'wrong' });
    expect(await used()).toEqual([null, null]);
    await Promise.all([ask(resource), ask(resource), ask(resource)]);
    const [{ today }] = (await pool.query(`select to_char(current_date, 'YYYY-MM-DD') as today`)).rows;
    expect(await used()).toEqual([today, null]);
  });
});
