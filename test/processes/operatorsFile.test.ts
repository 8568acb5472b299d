import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { callAt } from '../support/admin.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { readSeries } from '../support/metrics.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { useFolder } from '../support/process/folder.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';

// Operators in a Secret of Kubernetes: what a server does with it at the start, and after each change.

const DAY_MS = 86_400_000;
const daysFromNow = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

const folder = useFolder();
const OPERATORS_FILE = join(folder, 'operators.json');
let versions = 0;

/** As Kubernetes does: a link leads to the link `..data`, which comes to lead to another folder. */
async function mount(operators: object | string): Promise<void> {
  versions += 1;
  const [version, next, data] = [`..${versions}`, join(folder, '..next'), join(folder, '..data')];
  await mkdir(join(folder, version));
  const content = typeof operators === 'string' ? operators : JSON.stringify(operators);
  await writeFile(join(folder, version, 'operators.json'), content);
  symlinkSync(version, next);
  renameSync(next, data);
  if (versions === 1) symlinkSync('..data/operators.json', OPERATORS_FILE);
}

/** A token, and the hash that the log must not tell either. */
function newToken() {
  const token = `assent_op_${newSecret()}`;
  const hash = hexOf(sha256(token));
  ledger.note('operator token', token);
  ledger.note('operator token', hash);
  return { token, hash };
}

const [first, second, reader, late] = [newToken(), newToken(), newToken(), newToken()];
const crm = { role: 'reads', token_sha256: [reader.hash] };
const pipeline = (...tokens: { hash: string }[]) => ({
  role: 'changes',
  token_sha256: tokens.map(({ hash }) => hash),
  expires_at: daysFromNow(20),
});
const gone = { role: 'reads', token_sha256: [late.hash], expires_at: daysFromNow(-1) };

await mount({ pipeline: pipeline(first), crm, gone });
const database = await useDatabase();
const variables = onDatabase(database.url);
const { json, refused } = commandsOn(variables);
const ADMIN_PORT = String(await freePort());
const server = await spawnServer({ ...variables, LOG_LEVEL: 'info', ADMIN_PORT, OPERATORS_FILE });
afterAll(async () => void (await server.stop()));

const call = (what: string, token: string, body?: object) =>
  callAt(`http://localhost:${ADMIN_PORT}`, what, body, token);
const statusOf = async ({ token }: { token: string }) => (await call('GET /v1/clients', token)).status;
/** The lines that begin with `said`. */
const told = (said: string) => server.output().match(new RegExp(`^.+"msg":"${said}.*$`, 'gm')) ?? [];
const problem = (status: number, more: object) => ({ status, body: expect.objectContaining(more) });

const SHOP = { name: 'Tea Shop', redirect_uri: 'https://shop.example/callback' };

it('has its end in the metrics', async () => {
  const series = readSeries(await (await fetch(`${server.baseUrl}/metrics`)).text());
  const seconds = series.get('assent_operator_token_expires_seconds') ?? 0;
  expect(Math.ceil((seconds * 1000) / DAY_MS)).toBe(20);
});

it('has the name, the role and the end that OPERATORS_FILE gives', async () => {
  const [line = ''] = told('read OPERATORS_FILE');
  expect(JSON.parse(line)).toMatchObject({ level: 'info', operators: ['pipeline', 'crm', 'gone'] });
  const { status, body } = await call('POST /v1/clients', first.token, SHOP);
  expect(status).toBe(201);
  const [created] = await json<Record<string, string>[]>(`audit --client ${body.client_id}`);
  expect(created).toMatchObject({ outcome: 'client_created', operator: 'pipeline' });
  const refusedRole = problem(403, { rule: 'not_permitted' });
  expect(await call(`DELETE /v1/clients/${body.client_id}?confirm=true`, first.token)).toMatchObject(
    refusedRole,
  );
  expect(await call('POST /v1/clients', reader.token, SHOP)).toMatchObject(refusedRole);
  expect(await statusOf(reader)).toBe(200);
  for (const [{ token }, why] of [
    [late, 'expired'],
    [newToken(), 'unknown'],
  ] as const) {
    const detail = `The operator token is ${why}.`;
    expect(await call('GET /v1/clients', token)).toMatchObject(
      problem(401, { rule: 'invalid_token', detail }),
    );
  }
});

it('creates others in the database, but none for longer, and none with a name of OPERATORS_FILE', async () => {
  const create = (name: string) => call('POST /v1/operators', first.token, { name, role: 'reads', days: 90 });
  expect(Date.parse((await create('deputy')).body.expires_at)).toBeLessThanOrEqual(Date.now() + 20 * DAY_MS);
  for (const name of ['crm', 'Pipeline'])
    expect(await create(name)).toMatchObject(problem(422, { rule: 'refused_value', field: 'name' }));
  expect(await refused('operator retire crm --yes', 1)).toContain('outside of OPERATORS_FILE: crm');
});

it('is refused while the database has an active operator of its name', async () => {
  await json('operator create crm --role reads');
  const detail = 'The operator token is refused: the database has its name or token, too.';
  expect(await call('GET /v1/clients', reader.token)).toMatchObject(problem(401, { detail }));
  await json('operator retire crm --yes');
  expect(await statusOf(reader)).toBe(200);
});

it('changes with the Secret, without a restart: both tokens count, then the new one', async () => {
  expect(await statusOf(second)).toBe(401);
  await mount({ pipeline: pipeline(first, second), crm });
  await expect.poll(() => statusOf(second)).toBe(200);
  expect(await statusOf(first)).toBe(200);
  await mount({ pipeline: pipeline(second), crm });
  await expect.poll(() => statusOf(first)).toBe(401);
  expect(await statusOf(second)).toBe(200);
  expect(told('read OPERATORS_FILE')).toHaveLength(3);
});

it('stays as it was while the Secret is wrong or gone, and the log says why', async () => {
  const wrong = () => told('OPERATORS_FILE is wrong').map((line) => JSON.parse(line));
  const reasonOf = (reason: string) =>
    expect.objectContaining({ level: 'error', reason: expect.stringMatching(reason) });
  await mount({ crm: { ...crm, role: 'admin' } });
  await expect.poll(wrong).toEqual([reasonOf('crm.role must be one of reads, ')]);
  await mount(`{"crm": {"role": "reads", "token_sha256": [${late.token}]}}`);
  await expect.poll(wrong).toEqual([expect.anything(), reasonOf('is not JSON: [^"]+…[^"]+$')]);
  rmSync(join(folder, '..data'));
  await expect.poll(wrong).toContainEqual(reasonOf(`can't be read: ENOENT`));
  for (const one of [second, reader]) expect(await statusOf(one)).toBe(200);
  await mount({ crm });
  await expect.poll(() => statusOf(second)).toBe(401);
});
