import { createServer } from 'node:http';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ownDatabase } from '../support/postgres/database.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { poolerKeepsNames, poolerVersion, startPooler } from '../support/postgres/pooler.ts';
import { onDatabase, ownServer, runAssent } from '../support/process/process.ts';
import { listen } from '../support/process/program.ts';
import { openWallet } from '../support/wallet.ts';
import { doctor, troublesIn } from './findings.ts';

const postgres = new OwnPostgres();
afterAll(() => postgres.remove());
await postgres.start();
await postgres.run('create role server login');
await runAssent(['migrate', '--server-role', 'server'], onDatabase(postgres.url()));
const good = { ...onDatabase(postgres.url('postgres', 'server')), BASE_URL: 'https://pay.invalid' };

const CHECKS =
  'configuration database version encoding writes durability tls pooler clock schema role trail redirects https cookies address';

const METADATA = '/.well-known/openid-configuration';

describe('assent doctor', () => {
  it('prints a line per check, and exits with 0 on advice', async () => {
    const examined = await doctor(good);
    expect(examined.findings.map(({ check }) => check).join(' ')).toBe(CHECKS);
    expect(examined).toMatchObject({ code: 0, troubles: { address: 'advice' } });
    const { stdout } = await runAssent(['doctor'], good);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(examined.findings.length);
    for (const line of lines) expect(line).toMatch(/^(ok {6}|advice {2}|error {3})\S/);
    expect(lines.at(-1)).toMatch(/^advice {2}no Assent server answers at .+: start the server/);
  });

  it('recommends a watchdog or HAProxy if DATABASE_URL has several hosts', async () => {
    const DATABASE_URL = postgres.url('postgres', 'server').replace('@localhost/', '@localhost,localhost/');
    expect((await doctor({ ...good, DATABASE_URL })).troubles).toMatchObject({ hosts: 'advice' });
  });

  it('accepts a server that responds at BASE_URL, and reports another program there', async () => {
    const server = await ownServer(onDatabase(postgres.url('postgres', 'server')));
    const stranger = createServer((_request, response) => response.end('{}'));
    onTestFinished(() => void stranger.close());
    const at = async (BASE_URL: string) => (await doctor({ ...good, BASE_URL })).troubles;
    expect(await at(server.baseUrl)).toEqual({ cookies: 'advice' });
    const port = await listen(stranger, 'localhost');
    expect(await at(`http://localhost:${port}`)).toMatchObject({ address: 'error' });
  });

  describe('with SIGN_IN_ISSUER', async () => {
    const wallet = await openWallet();
    afterAll(() => wallet.down());
    const at = async (SIGN_IN_ISSUER = wallet.issuer) => {
      const { findings } = await doctor({ ...good, ...wallet.variables, SIGN_IN_ISSUER });
      expect(JSON.stringify(findings)).not.toContain(wallet.settings.clientSecret);
      return findings.slice(CHECKS.split(' ').length);
    };

    it('checks what sign-in requires of the provider', async () => {
      const checks = ['provider ok', 'signature ok', 'credentials ok', 'keys ok'];
      expect((await at()).map(({ check, level }) => `${check} ${level}`)).toEqual(checks);
    });

    it('checks the provider of operators, too, and each once', async () => {
      const issuer = { ADMIN_ROLES: 'groups desk=supports', ADMIN_SIGN_IN_ISSUER: wallet.issuer };
      const { variables } = wallet;
      const ofOperators = Object.entries(variables).flatMap(([name, value]) =>
        /^SIGN_IN_CLIENT/.test(name) ? [[`ADMIN_${name}`, value]] : [],
      );
      const admin = { ...issuer, ...Object.fromEntries(ofOperators), ADMIN_PORT: '3100' };
      for (const more of [admin, { ...variables, ...admin }]) {
        const { findings } = await doctor({ ...good, ...more });
        expect(findings.filter(({ check }) => check === 'provider')).toHaveLength(1);
      }
    });

    const OTHER = `${wallet.issuer}/users/`;

    it.each([
      ['signature', { id_token_signing_alg_values_supported: ['HS256', 'none'] }, ['HS256,none']],
      ['credentials', { token_endpoint_auth_methods_supported: ['private_key_jwt'] }, ['private_key_jwt']],
      ['keys', { jwks_uri: `${wallet.issuer}/nothing` }, ['0 keys of the provider', '/nothing']],
      ['keys', { jwks_uri: undefined }, ['0 keys of the provider']],
      ['provider', { issuer: OTHER }, [`${wallet.issuer} with`, OTHER]],
    ])('reports metadata that fails the check "%s": %o', async (check, metadata, texts) => {
      wallet.replaced = { metadata };
      const findings = await at();
      expect(troublesIn(findings)).toEqual({ [check]: 'error' });
      const { text, remedy } = findings.find((finding) => finding.check === check) ?? {};
      expect(remedy).toMatch(/\w{3}/);
      for (const part of texts) expect(`${text} ${remedy}`).toContain(part);
    });

    it.each([
      ['that can’t be reached', {}, 'http://localhost:9', /ECONNREFUSED|connect|bad port/],
      ['that sends 150 MB', { huge: { path: METADATA, headers: {} } }, wallet.issuer, /more than a megabyte/],
    ])('reports a provider %s', async (_what, replaced, issuer, text) => {
      wallet.replaced = replaced;
      expect(await at(issuer)).toMatchObject([
        { check: 'provider', level: 'error', text: expect.stringMatching(text) },
      ]);
    });
  });

  it('says that a server ignores X-Forwarded-For, and which variable to set', async () => {
    const server = await ownServer(onDatabase(postgres.url('postgres', 'server')));
    await fetch(`${server.baseUrl}/health/live`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    await server.stop();
    expect((await doctor(good)).found.proxy).toMatchObject({
      level: 'advice',
      text: expect.stringContaining('TRUST_PROXY does not name'),
      remedy: expect.stringContaining('TRUST_PROXY name the proxy'),
    });
    await postgres.run(`update refusals set at = at - interval '1 hour'`);
    expect((await doctor(good)).found.proxy).toBeUndefined();
  });

  it('continues after an error, and exits with 1', async () => {
    for (const [wrong, troubles] of [
      [{ SECRETS: 'short', BASE_URL: '' }, { configuration: 'error' }],
      [{ BASE_URL: 'http://pay.invalid' }, { https: 'error', cookies: 'advice', address: 'advice' }],
      [{ DATABASE_URL: 'postgres://a@127.0.0.1:9/b' }, { database: 'error', address: 'advice' }],
    ]) {
      const examined = await doctor({ ...good, ...wrong });
      expect([examined.code, examined.troubles]).toEqual([1, troubles]);
    }
  });

  it('reports asynchronous commits, an encoding other than UTF-8, and missing tables', async () => {
    await postgres.run(
      `create database empty encoding 'LATIN1' locale 'C' template template0`,
      'alter role server set synchronous_commit = off',
    );
    const examined = await doctor({ ...good, DATABASE_URL: postgres.url('empty', 'server') });
    const expected = { encoding: 'error', durability: 'error', schema: 'error', address: 'advice' };
    expect(examined.troubles).toEqual(expected);
    expect(JSON.stringify(examined.findings).match(/assent migrate/g)).toHaveLength(1);
  });

  it('reports a role that lacks privileges of a server', async () => {
    await postgres.run('create role bare login', 'grant select on schema_migrations to bare');
    const bare = await doctor({ ...good, DATABASE_URL: postgres.url('postgres', 'bare') });
    const role = { level: 'error', text: expect.stringContaining('INSERT on grants') };
    expect(bare).toMatchObject({ code: 1, found: { role } });
  });

  it('reports a role that owns the tables, and a superuser', async () => {
    await postgres.run('create role powerful superuser login', 'create role owning login in role assent');
    for (const role of ['assent', 'powerful', 'owning']) {
      const mighty = await doctor({ ...good, DATABASE_URL: postgres.url('postgres', role) });
      expect([role, mighty.code, mighty.troubles]).toEqual([role, 1, { role: 'error', address: 'advice' }]);
    }
  });

  it('reports a standby', async () => {
    await postgres.stop();
    postgres.becomeStandby();
    await postgres.start();
    expect(await doctor(good)).toMatchObject({ code: 1, troubles: { writes: 'error' } });
  });

  it.runIf(poolerVersion)('reports a pooler, and whether it supports prepared statements', async () => {
    const [pooler, database] = [await startPooler('transaction'), await ownDatabase()];
    onTestFinished(() => pooler.stop());
    const url = pooler.url(new URL(database.url).pathname.slice(1));
    expect((await doctor({ ...good, DATABASE_URL: url })).found.pooler).toMatchObject({
      level: poolerKeepsNames ? 'ok' : 'advice',
      text: expect.stringMatching(/through a pooler/),
    });
  });
});
