import { describe, expect, it } from 'vitest';
import { fieldsFor, isSignedIn, signedIn } from '../support/account.ts';
import type { Agent } from '../support/http/agent.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const END = '/oauth/account/sessions/end';
const listOf = (agent: Agent) => agent.get('/oauth/account/security');

describe('the sessions of a user', () => {
  it('are not listed once they have expired', async () => {
    const user = await server.createUser();
    const age = async (change: string) => {
      const { cookies } = await signedIn(server, user);
      const text = `update sessions set ${change} where session_hash = sha256($1::bytea)`;
      await server.database.pool.query(text, [cookies.get('assent_session')]);
    };
    await age(`seen_at = now() - interval '31 minutes'`);
    await age(`created_at = now() - interval '13 hours'`);
    const here = await signedIn(server, user);
    expect(fieldsFor(await listOf(here), END)).toEqual({});
  });

  it('end without a deadlock by concurrent requests and during a sign-in of the same user', async () => {
    const user = await server.createUser();
    const here = await signedIn(server, user);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([1, 2, 3].map(() => signedIn(server, user)));
      const { forms } = await listOf(here);
      const others = forms.find(({ action, fields }) => action === END && !('session_id' in fields));
      const ends = [1, 2, 3].map(() => here.post(END, others?.fields ?? {}));
      await signedIn(server, user);
      expect((await Promise.all(ends)).map(({ location }) => location)).toEqual(
        Array(3).fill(expect.stringContaining('/oauth/account/security')),
      );
    }
    expect(await isSignedIn(here)).toBe(true);
  });
});
