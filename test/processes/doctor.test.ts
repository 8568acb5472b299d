import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ownDatabase } from '../support/database.ts';
import { OwnPostgres } from '../support/ownPostgres.ts';
import { poolerKeepsNames, poolerVersion, startPooler } from '../support/pooler.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process.ts';

interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'advice' | 'error';
  readonly text: string;
  readonly remedy: string | null;
}

const postgres = new OwnPostgres();
let good: Record<string, string>;

beforeAll(async () => {
  await postgres.start();
  await postgres.run('create role server login');
  good = { ...onDatabase(postgres.url('postgres', 'server')), BASE_URL: 'https://pay.invalid' };
  await runAssent(['migrate', '--server-role', 'server'], onDatabase(postgres.url()));
});

afterAll(() => postgres.remove());

/** What the doctor says, and how it ends. */
async function doctor(
  variables: Record<string, string>,
): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout, stderr } = await runAssent(['doctor', '--json'], variables);
  expect(stderr).toBe('');
  return { code, findings: JSON.parse(stdout) };
}

/** The checks that are not well. */
const troubles = ({ findings }: { findings: Finding[] }) =>
  Object.fromEntries(
    findings.filter(({ level }) => level !== 'ok').map(({ check, level }) => [check, level]),
  );

const CHECKS =
  'configuration database version encoding writes durability isolation tls pooler clock schema role trail https cookies address';

describe('assent doctor', () => {
  it('has a line for everything, and advice is no error', async () => {
    const examined = await doctor(good);
    expect(examined.findings.map(({ check }) => check).join(' ')).toBe(CHECKS);
    expect([examined.code, troubles(examined)]).toEqual([0, { address: 'advice' }]);
    const { stdout } = await runAssent(['doctor'], good);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(examined.findings.length);
    for (const line of lines) expect(line).toMatch(/^(ok {6}|advice {2}|error {3})\S/);
    expect(lines.at(-1)).toMatch(/^advice {2}nothing that is Assent answers at .+: start the server/);
  });

  it('finds the server at its address, and says what else is there', async () => {
    const server = await spawnServer(onDatabase(postgres.url('postgres', 'server')));
    const stranger = createServer((_request, response) => response.end('{}')).listen(0, 'localhost');
    onTestFinished(() => void stranger.close());
    const at = async (BASE_URL: string) => troubles(await doctor({ ...good, BASE_URL }));
    expect(await at(server.baseUrl)).toEqual({ cookies: 'advice' });
    const { port } = stranger.address() as AddressInfo;
    expect(await at(`http://localhost:${port}`)).toMatchObject({ address: 'error' });
    await server.stop();
  });

  it('looks at the rest when something is wrong, and ends with 1', async () => {
    const unconfigured = await doctor({ ...good, SECRETS: 'short', BASE_URL: '' });
    expect([unconfigured.code, troubles(unconfigured)]).toEqual([1, { configuration: 'error' }]);
    const open = await doctor({ ...good, BASE_URL: 'http://pay.invalid' });
    expect([open.code, troubles(open)]).toMatchObject([1, { https: 'error' }]);
    const away = await doctor({ ...good, DATABASE_URL: 'postgres://a@127.0.0.1:9/b' });
    expect([away.code, troubles(away)]).toEqual([1, { database: 'error', address: 'advice' }]);
  });

  it('is not content with a database that loses what was answered, or letters, or has none of our tables', async () => {
    await postgres.run(
      `create database empty encoding 'LATIN1' locale 'C' template template0`,
      'alter role server set synchronous_commit = off',
    );
    const examined = await doctor({ ...good, DATABASE_URL: postgres.url('empty', 'server') });
    const expected = { encoding: 'error', durability: 'error', schema: 'error', address: 'advice' };
    expect(troubles(examined)).toEqual(expected);
    const remedies = examined.findings.map(({ remedy }) => remedy);
    expect(remedies.filter((remedy) => remedy?.includes('assent migrate'))).toHaveLength(1);
  });

  it('is not content with a role that lacks what a server needs', async () => {
    await postgres.run('create role bare login', 'grant select on schema_migrations to bare');
    const bare = await doctor({ ...good, DATABASE_URL: postgres.url('postgres', 'bare') });
    expect([bare.code, bare.findings.find(({ check }) => check === 'role')]).toMatchObject([
      1,
      { level: 'error', text: expect.stringContaining('INSERT on grants') },
    ]);
  });

  it('is not content with the owner of the tables, nor with a superuser', async () => {
    await postgres.run('create role powerful superuser login', 'create role owning login in role assent');
    for (const role of ['assent', 'powerful', 'owning']) {
      const mighty = await doctor({ ...good, DATABASE_URL: postgres.url('postgres', role) });
      expect([role, mighty.code, troubles(mighty)]).toEqual([role, 1, { role: 'error', address: 'advice' }]);
    }
  });

  it('is not content with a standby', async () => {
    await postgres.stop();
    postgres.becomeStandby();
    await postgres.start();
    const standby = await doctor(good);
    expect([standby.code, troubles(standby)]).toMatchObject([1, { writes: 'error' }]);
  });

  it.runIf(poolerVersion)('names a pooler, and what it keeps', async () => {
    const [pooler, database] = [await startPooler('transaction'), await ownDatabase()];
    onTestFinished(() => pooler.stop());
    const url = pooler.url(new URL(database.url).pathname.slice(1));
    const { findings } = await doctor({ ...good, DATABASE_URL: url });
    expect(findings.find(({ check }) => check === 'pooler')).toMatchObject({
      level: poolerKeepsNames ? 'ok' : 'advice',
      text: expect.stringMatching(/through a pooler/),
    });
  });
});
