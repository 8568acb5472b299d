import { describe, expect, it } from 'vitest';
import type { OperatorSignIn } from '../../src/admin/support/providerSignIn.ts';
import { openProvider } from '../../src/flows/common/provider.ts';
import { type AdminRoles, parseAdminRoles } from '../../src/rules/account/adminRoles.ts';
import { openAdmin, operatorToken, useAdmin } from '../support/admin.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { useServer } from '../support/server.ts';
import { callbackOf, useWallet } from '../support/wallet.ts';

// Operators who sign in to the support pages at an OpenID provider.

const admin = await useAdmin();
const { database } = admin;
const { pool } = database;
pool.setMaxListeners(0); // of one listener for each server
const server = await useServer({ database });
const wallet = await useWallet();

const rolesOf = (text: string): AdminRoles => {
  const roles = parseAdminRoles(text);
  if (roles === undefined) throw new Error(`can’t read ${text}`);
  return roles;
};
const signInBy = (text: string): OperatorSignIn => ({
  provider: openProvider(wallet.settings),
  roles: rolesOf(text),
});
const signIn = signInBy('groups desk=supports bosses=destroys');
const url = await openAdmin(pool, admin.logLines, undefined, new Map(), signIn);
const openWith = (other: OperatorSignIn | null) =>
  openAdmin(pool, admin.logLines, undefined, new Map(), other);

let people = 0;
/** Another person at the provider, with these claims. */
function beAt(claims: object) {
  people += 1;
  const name = `maria-${people}`;
  wallet.user = { sub: `sub-${people}`, preferred_username: name, ...claims };
  return name;
}

const linkToProvider = ({ body }: Answer) =>
  /href="(\/support\/sign-in\/provider\?[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? 'no link';

/** Goes from a page to the provider and back. @returns what the callback answers */
async function passProvider(agent: Agent, from = '/support') {
  const left = await agent.get(linkToProvider(await agent.get(from)));
  expect(left.status).toBe(303);
  return agent.get(await callbackOf(agent, left.location ?? ''));
}

async function signedIn(claims: object) {
  const [name, agent] = [beAt(claims), new Agent(url)];
  const back = await passProvider(agent);
  expect([back.status, back.location]).toEqual([303, '/support']);
  return { name, agent };
}

it('an operator signs in at the provider, goes on where the way began, and is named in the trail', async () => {
  const user = await server.createUser({ name: 'Anna of the provider' });
  const [name, agent] = [beAt({ groups: ['staff', 'desk'] }), new Agent(url)];
  const page = `/support/users/${encodeURIComponent(user.login)}`;
  const back = await passProvider(agent, page);
  expect([back.status, back.location]).toEqual([303, page]);
  const [asked] = wallet.exchanges;
  expect(asked?.form.get('redirect_uri')).toBe(`${url}/support/sign-in/callback`);
  const person = await agent.get(page);
  expect(person.text).toContain(`${name}, with the role supports`);
  const verb = await agent.get(`/support/do/users.block?login=${encodeURIComponent(user.login)}`);
  expect((await agent.submit(verb, 'note', { note: 'a call' })).status).toBe(303);
  const { body } = await admin.call(`GET /v1/audit?user_id=${user.userId}&outcome=user_blocked`);
  expect(body.items).toMatchObject([{ operator: name, detail: { note: 'a call' } }]);
});

it('the provider is asked for the scope of the claim, where it has one', async () => {
  const scopeAt = async (scopes_supported?: string[]) => {
    wallet.replaced = { metadata: { scopes_supported } };
    const at = new Agent(await openWith(signInBy('groups desk=supports')));
    const { location } = await at.get('/support/sign-in/provider');
    return new URL(location ?? '').searchParams.get('scope');
  };
  expect(await scopeAt(['openid', 'groups', 'email'])).toBe('openid profile groups');
  expect(await scopeAt(['openid', 'profile'])).toBe('openid profile');
  expect(await scopeAt()).toBe('openid profile');
});

describe('the role', () => {
  it('is the highest that a value of the claim gives', async () => {
    for (const [groups, role] of [
      [['desk'], 'supports'],
      ['desk', 'supports'],
      [['desk', 'bosses'], 'destroys'],
    ] as const) {
      const { name, agent } = await signedIn({ groups });
      expect((await agent.get('/support')).text).toContain(`${name}, with the role ${role}`);
    }
  });

  it('is refused to those without such a value, and no session begins', async () => {
    for (const groups of [undefined, [], ['Desk'], 'desks', [['desk'], 'desk '], { desk: 'desk' }]) {
      beAt({ groups });
      const agent = new Agent(url);
      const refused = await passProvider(agent);
      expect([refused.status, refused.location]).toEqual([403, null]);
      expect(refused.text).toContain('Your account has no role here');
      expect((await agent.get('/support/users')).text).toContain('Operator token');
    }
  });

  it('follows the settings, also in a session that began before', async () => {
    const { name, agent } = await signedIn({ groups: ['desk'] });
    const roleAt = async (other: OperatorSignIn | null) => {
      const elsewhere = new Agent(await openWith(other));
      for (const cookie of agent.cookies) elsewhere.cookies.set(...cookie);
      return /with the role (\w+)/.exec((await elsewhere.get('/support')).text)?.[1];
    };
    expect(await roleAt(signIn)).toBe('supports');
    expect(await roleAt(signInBy('groups desk=reads bosses=destroys'))).toBe('reads');
    expect(await roleAt(signInBy('groups bosses=destroys'))).toBeUndefined();
    expect(await roleAt(signInBy('roles desk=supports'))).toBeUndefined();
    expect(await roleAt(null)).toBeUndefined();
    const other = { ...signIn, provider: { ...signIn.provider, issuer: 'https://other.example' } };
    expect(await roleAt(other)).toBeUndefined();
    expect((await agent.get('/support')).text).toContain(name);
  });
});

describe('a name', () => {
  it('is that of no operator with a token, and of no command', async () => {
    const token = await operatorToken(pool, 'Boris', 'reads', 1);
    for (const name of ['Boris', 'boris', 'Bоris', 'root', 'assent-maintain', '', ' ', 'a\u202eb']) {
      beAt({ groups: ['desk'], preferred_username: name });
      const refused = await passProvider(new Agent(url));
      expect([name, refused.status]).toEqual([name, 422]);
    }
    await pool.query('update operators set retired_at = clock_timestamp() where token_hash = sha256($1)', [
      token,
    ]);
    await signedIn({ groups: ['desk'], preferred_username: 'Boris' });
  });

  it('ends its session when an operator with a token gets it', async () => {
    const { name, agent } = await signedIn({ groups: ['desk'] });
    await operatorToken(pool, name, 'reads', 1);
    expect((await agent.get('/support')).text).toContain('Operator token');
  });

  it('is the email or the sub without a preferred_username', async () => {
    const { agent } = await signedIn({
      groups: ['desk'],
      preferred_username: undefined,
      email: 'm@wallet.example',
    });
    expect((await agent.get('/support')).text).toContain('m@wallet.example, with');
    const { agent: other } = await signedIn({ groups: ['desk'], preferred_username: undefined });
    expect((await other.get('/support')).text).toContain(`sub-${people}, with`);
  });
});

describe('a callback', () => {
  const refusedAt = async (agent: Agent, address: string) => {
    const answer = await agent.get(address);
    expect([answer.status, answer.location, answer.headers.getSetCookie()]).toEqual([401, null, []]);
    return answer.text;
  };
  const begun = async (agent: Agent) => {
    const { location } = await agent.get('/support/sign-in/provider');
    return callbackOf(agent, location ?? '');
  };

  it('is of the browser that began it, and once', async () => {
    beAt({ groups: ['desk'] });
    const agent = new Agent(url);
    const callback = await begun(agent);
    expect(await refusedAt(new Agent(url), callback)).toContain('No sign-in began in this browser');
    const other = new Agent(url);
    await begun(other);
    expect(await refusedAt(other, callback)).toContain('No sign-in began in this browser');
    expect((await agent.get(callback)).status).toBe(303);
    expect(await refusedAt(agent, callback)).toContain('The sign-in failed');
  });

  it('is refused with another nonce, audience or key, and without a sign-in there', async () => {
    for (const replaced of [
      { claims: { nonce: 'another' } },
      { claims: { aud: 'another' } },
      { key: new TextEncoder().encode('x'.repeat(32)), header: { alg: 'HS256' } },
      { callback: { iss: 'https://other.example' } },
      { callback: { code: undefined, error: 'access_denied' } },
    ]) {
      beAt({ groups: ['bosses'] });
      wallet.replaced = replaced;
      const agent = new Agent(await openWith(signIn));
      await refusedAt(agent, await begun(agent));
    }
  });

  it('counts as a wrong token does', async () => {
    const agent = new Agent(await openWith(signIn));
    for (let count = 0; count < 20; count += 1)
      await refusedAt(agent, '/support/sign-in/callback?state=x&code=y');
    expect((await agent.get('/support/sign-in/callback?state=x&code=y')).status).toBe(429);
  });

  it('does not lead to another site', async () => {
    for (const back of ['https://evil.example/', '//evil.example', '/support@evil.example', '/supportx']) {
      beAt({ groups: ['desk'] });
      const agent = new Agent(url);
      const { location } = await agent.get(`/support/sign-in/provider?back=${encodeURIComponent(back)}`);
      const answer = await agent.get(await callbackOf(agent, location ?? ''));
      expect([back, answer.location]).toEqual([back, '/support']);
    }
  });
});

it('while the provider is away, a token still opens the pages', async () => {
  await wallet.down();
  try {
    const provider = openProvider(wallet.settings);
    const agent = new Agent(await openWith({ ...signIn, provider }));
    const away = await agent.get('/support/sign-in/provider');
    expect([away.status, away.location]).toEqual([503, null]);
    expect(admin.logLines.findLast((line) => line.includes('"status":503'))).toMatch(
      /"rule_id":"provider","rule":"the OpenID provider does not respond correctly: .*ECONNREFUSED/,
    );
    const token = await admin.tokenFor('reads');
    const form = await agent.get('/support');
    expect((await agent.submit(form, 'token', { token })).status).toBe(303);
  } finally {
    await wallet.up();
  }
});
