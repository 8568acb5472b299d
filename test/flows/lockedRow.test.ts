import { expect, it } from 'vitest';
import { obtainCode, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { whileHeld } from '../support/postgres/locks.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

it('a manually locked grant delays its own exchange only, and loses nothing', async () => {
  const client = await server.createClient();
  const users = await Promise.all(Array.from({ length: 8 }, () => server.createUser()));
  const codes = await Promise.all(
    users.map((user) => obtainCode(new Agent(server.baseUrl), requestOf(client), user)),
  );
  const lock = 'select from grants where user_id = $1 for update';
  await whileHeld(server.database.pool, lock, [users[0]?.userId], async () => {
    const [stuck, ...others] = await Promise.all(codes.map((code) => exchange(server, client, code)));
    others.forEach(expectToken);
    expect([stuck?.status, stuck?.headers.get('retry-after')]).toEqual([503, '5']);
  });
  expectToken(await exchange(server, client, codes[0] ?? ''));
});
