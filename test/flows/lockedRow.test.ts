import { expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { obtainCode, requestOf, tokenRequestOf } from '../support/flow.ts';
import { whileHeld } from '../support/locks.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

it('a grant that somebody locks by hand delays its own exchange only, and loses nothing', async () => {
  const client = await server.createClient();
  const users = await Promise.all(Array.from({ length: 8 }, () => server.createUser()));
  const agents = users.map(() => new Agent(server.baseUrl));
  const codes = await Promise.all(
    users.map((user, index) => obtainCode(agents[index] as Agent, requestOf(client), user)),
  );
  const lock = 'select from grants where user_id = $1 for update';
  await whileHeld(server.database.pool, lock, [users[0]?.userId], async () => {
    const [stuck, ...others] = await Promise.all(
      codes.map((code, index) => (agents[index] as Agent).post('/oauth/token', tokenRequestOf(client, code))),
    );
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect([stuck?.status, stuck?.headers.get('retry-after')]).toEqual([503, '5']);
  });
  const again = await (agents[0] as Agent).post('/oauth/token', tokenRequestOf(client, codes[0] ?? ''));
  expect(again.status).toBe(200);
});
