import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { ProviderSettings } from '../../src/flows/common/provider.ts';
import { expectRefused, usersWith } from '../attacks/refusals.ts';
import { isSignedIn, press } from '../support/account.ts';
import { codeOf, decide, introspect, requestOf, signIn } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { readFile } from '../support/process/folder.ts';
import { onDatabase, runAssent } from '../support/process/process.ts';
import { type TestServer, useServer } from '../support/server.ts';
import { describeWith } from './examples.ts';
import { KC, type Person, useKeycloak } from './keycloak/keycloak.ts';

// A real Keycloak signs users in and confirms payments. Then its users move to Assent.

function person(username: string, password = newSecret()): Person {
  return { id: randomUUID(), username, password };
}

const [alice, bob] = [person('alice'), person('bob')];
const umlauts = `${newSecret()} Grüße`.normalize('NFD');
const REALMS = {
  wallet: {
    passwordPolicy: '',
    people: [alice, bob, person('short', 'x'), person('wide', `${newSecret()} ﬁ ½ ＡＢＣ`)],
  },
  sha256: {
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256)',
    people: [person('odd', `${newSecret()}:$"d'e\\f`)],
  },
  old256: {
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(27500)',
    people: [person('old')],
  },
  sha512: { passwordPolicy: 'hashAlgorithm(pbkdf2-sha512)', people: [person('umlauts', umlauts)] },
};
const SPENDING = { scope: 'payment-shop.limit(7,5000) money-source("wallet")' };

const PROGRAM = /^<!-- example: keycloak -->\n```python\n(.*?)^```$/ms;
const [, program = ''] = PROGRAM.exec(readFile('docs/operate/moving-in.md')) ?? [];

describeWith([KC, 'python3'], 'Assent with Keycloak', async () => {
  const keycloak = await useKeycloak(REALMS);
  const serverWith = (given: Partial<ProviderSettings> = {}) =>
    useServer({ provider: { ...keycloak.settings, paymentAcr: 'payment', ...given } });
  const server = await serverWith();
  const client = await server.createClient();

  /** A browser with the cookies of both sites. */
  function browserAt({ baseUrl }: TestServer, theirs = new Agent(keycloak.origin)) {
    const ours = new Agent(baseUrl);

    /** Follows the redirects of both sites, up to a page or the application. */
    async function goOn(from: Answer): Promise<Answer> {
      let answer = from;
      for (let steps = 0; steps < 12; steps += 1) {
        const next = answer.location ?? /^0; url=(.+)$/.exec(answer.headers.get('refresh') ?? '')?.[1];
        const { origin, href } = new URL(next ?? 'none:', baseUrl);
        const agent = [ours, theirs].find((one) => one.baseUrl === origin);
        if (agent === undefined) return answer;
        answer = await agent.get(href);
      }
      throw new Error('the way has no end');
    }

    /** Fills in Keycloak's form, which may name the user already. @returns what leads to our callback */
    function type(form: Answer, { username, password }: Person): Promise<Answer> {
      const isAsked = formWith(form, 'password').inputs.includes('username');
      return theirs.submit(form, 'password', { password, ...(isAsked && { username }) });
    }

    const open = async (path: string) => goOn(await ours.get(path));
    const ask = async (fields = {}, by = client) =>
      goOn(await ours.post('/oauth/authorize', requestOf(by, fields)));
    const enter = async (form: Answer, who: Person) => goOn(await type(form, who));
    /** Presses Allow for a payment, and the button of the page that shows it. @returns Keycloak's form */
    async function allow(page: Answer): Promise<Answer> {
      const shown = await goOn(await ours.submit(page, 'decision', { decision: 'allow' }));
      expect([shown.page, shown.text]).toEqual(['confirm', expect.stringContaining('RUB 5,000')]);
      const href = /href="(\/oauth\/sign-in\?[^"]*)"/.exec(shown.body)?.[1] ?? 'none:';
      return open(href.replaceAll('&amp;', '&'));
    }
    return { ours, theirs, goOn, open, ask, type, enter, allow };
  }

  it('signs users in, and registers them under the Keycloak id, which payment APIs receive', async () => {
    const { ours, ask, enter } = browserAt(server);
    const code = codeOf(await decide(ours, await enter(await ask(), alice), 'allow'));
    const token = expectToken(await exchange(server, client, code));
    const users = await usersWith(server, { external_id: alice.id });
    expect(users).toMatchObject([{ login: 'alice', name: 'Test alice', password_hash: null }]);
    const active = { active: true, sub: users[0]?.user_id, external_id: alice.id };
    expect(await introspect(server, await server.createResource(), token)).toMatchObject(active);
  });

  it('asks the signed-in user for the password again after Allow for a payment right', async () => {
    const { open, ask, enter, allow } = browserAt(server);
    expect((await enter(await open('/oauth/account'), alice)).page).toBe('account');
    const again = await allow(await ask(SPENDING));
    expect(formWith(again, 'password').inputs).not.toContain('username');
    expect(codeOf(await enter(again, alice))).toMatch(/^assent_ac_/);
  });

  it('refuses a payment if Keycloak ignores an unknown SIGN_IN_PAYMENT_ACR', async () => {
    const mistyped = await serverWith({ paymentAcr: 'other' });
    const { ours, ask, type, enter, allow } = browserAt(mistyped);
    const consent = await enter(await ask(SPENDING, await mistyped.createClient()), alice);
    const { location } = await type(await allow(consent), alice);
    await expectRefused(mistyped, ours, location ?? 'none:', 'sign_in_unconfirmed', /acr/);
  });

  it('signs users in by their Keycloak session, and prompts again after a sign-out from Assent', async () => {
    const { theirs, open, enter } = browserAt(server);
    await enter(await open('/oauth/account'), alice);
    const other = browserAt(server, theirs);
    const account = await other.open('/oauth/account');
    expect(account.page).toBe('account');
    const form = await other.goOn(await press(other.ours, account, '/oauth/sign-out'));
    expect(form.page).toBeNull();
    expect((await other.enter(form, alice)).page).toBe('account');
  });

  it('imports users exported from Keycloak, who sign in with their existing passwords', async () => {
    const files = await keycloak.exportUsers();
    const { stdout: lines } = await promisify(execFile)('python3', ['-c', program, ...files]);
    const own = await useServer();
    const people = Object.values(REALMS).flatMap((realm) => realm.people);
    const { stdout } = await runAssent(['user', 'import', '--json'], onDatabase(own.database.url), lines);
    expect(JSON.parse(stdout)).toMatchObject({ imported: people.length, bad: 0 });
    for (const { id, username, password } of people) {
      const agent = new Agent(own.baseUrl);
      await signIn(agent, username, `${password}?`);
      expect([username, await isSignedIn(agent)]).toEqual([username, false]);
      await signIn(agent, username, password);
      expect([username, await isSignedIn(agent)]).toEqual([username, true]);
      const [user] = await usersWith(own, { external_id: id });
      expect(user).toMatchObject({ login: username, name: `Test ${username}` });
    }
  }, 240_000);
});
