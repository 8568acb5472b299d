import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hashSync } from '@node-rs/bcrypt';
import { describe, expect, it } from 'vitest';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { transaction } from '../../src/store/database/database.ts';
import { isSignedIn } from '../support/account.ts';
import { introspect, obtainToken, trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { waitForLocks } from '../support/postgres/locks.ts';
import { fileIn } from '../support/process/folder.ts';
import { clientOf, type Kind, type Row, some, useImports } from './imports.ts';

// An old service that goes on serving after its first import: what changed there comes in by `--update`.

const { server, folder, resource, assent, json, fileOf, imports, counts, isActive, expectConsistent } =
  await useImports();
const { pool } = server.database;

const update = (kind: Kind, rows: readonly Row[], more = '') => counts(kind, rows, `--update ${more}`);
const differences = async (kind: Kind, rows: readonly Row[]) => {
  const { updated_lines = [], newer_here_lines = [] } = await imports(kind, rows, '--update --dry-run');
  const lines = [updated_lines, newer_here_lines].flat() as Row[];
  return lines.map(({ field, reason }) => `${field}: ${reason}`);
};

const hash = (password: string) => hashSync(password, 4);
const tries = (login: string, password: string) => trySignIn(new Agent(server.baseUrl), login, password);

/** A user of the old service, and the line of the file. */
function userOf(more: Row = {}) {
  const password = newSecret();
  const named = { login: some('u'), name: 'Anna Moved', external_id: some('x') };
  return { password, row: { ...named, password_hash: hash(password), ...more } };
}
async function movedUser(more: Row = {}) {
  const user = userOf(more);
  expect(await counts('user', [user.row])).toEqual({ imported: 1 });
  return user;
}
const eventsOf = async (login: string) => {
  const { rows } = await pool.query<{ kind: string; operator: string; fields: unknown }>(
    `select kind, operator, detail -> 'fields' as fields from audit_events join users using (user_id)
      where login = $1 and kind <> 'signed_in' order by at`,
    [login],
  );
  return rows;
};

describe('assent user import --update', () => {
  it.each([false, true])(
    'takes a password that was changed at the old service, and ends the sessions (signed in here: %s)',
    async (signsIn) => {
      const { row, password } = await movedUser();
      const { login } = row;
      const agent = new Agent(server.baseUrl);
      if (signsIn) expect(await trySignIn(agent, login, password)).toBe('right');
      expect(await update('user', [row])).toEqual({ unchanged: 1 });
      expect(await isSignedIn(agent)).toBe(signsIn);
      const news = newSecret();
      const changed = { ...row, password_hash: hash(news) };
      const without = await counts('user', [changed], '--dry-run');
      expect(without).toEqual(signsIn ? { unchanged: 1 } : { bad: 1 });
      expect(await differences('user', [changed])).toEqual(['login: password_hash']);
      expect(await tries(login, password)).toBe('right');
      expect(await update('user', [changed])).toEqual({ updated: 1 });
      expect(await isSignedIn(agent)).toBe(false);
      expect([await tries(login, password), await tries(login, news)]).toEqual(['wrong', 'right']);
      expect(await update('user', [changed])).toEqual({ unchanged: 1 });
      expect(await eventsOf(login)).toEqual([
        { kind: 'user_imported', operator: 'mover', fields: null },
        { kind: 'user_imported', operator: 'mover', fields: ['password_hash'] },
      ]);
    },
  );

  it('updates a user who was renamed here and has the name again', async () => {
    const [back, spelled, same] = [await movedUser(), await movedUser(), await movedUser()];
    const { login } = back.row;
    await json(`user update ${login} --login ${login}-new`);
    expect(await update('user', [{ ...back.row, status: 'blocked' }])).toEqual({ skipped: 1 });
    await json(`user update ${login}-new --login ${login}`);
    await json(`user update ${spelled.row.login} --login ${spelled.row.login.toUpperCase()}`);
    await json(`user update ${same.row.login} --external-id ${same.row.external_id}`);
    const blocked = [back, spelled, same].map(({ row }) => ({ ...row, status: 'blocked' }));
    expect(await update('user', blocked)).toEqual({ updated: 3 });
  });

  it('takes name, status and payment password, and again when they change back', async () => {
    const { row, password } = await movedUser({ status: 'active' });
    const agent = new Agent(server.baseUrl);
    await trySignIn(agent, row.login, password);
    const renamed = { ...row, name: 'Anna Petrova' };
    expect(await update('user', [renamed])).toEqual({ updated: 1 });
    expect(await isSignedIn(agent)).toBe(true);
    const blocked = { ...renamed, status: 'blocked', payment_password_hash: hash(newSecret()) };
    expect(await differences('user', [blocked])).toEqual(['login: blocked, payment_password_hash']);
    expect(await update('user', [blocked])).toEqual({ updated: 1 });
    expect(await json(`user show ${row.login}`)).toMatchObject({ name: 'Anna Petrova', status: 'blocked' });
    expect([await isSignedIn(agent), await tries(row.login, password)]).toEqual([false, 'wrong']);
    expect(await update('user', [{ ...blocked, status: undefined }])).toEqual({ unchanged: 1 });
    expect(await update('user', [row])).toEqual({ updated: 1 });
    expect(await json(`user show ${row.login}`)).toMatchObject({ name: 'Anna Moved', status: 'active' });
    expect(await tries(row.login, password)).toBe('right');
  });

  it.each(['set-password LOGIN --password-stdin', 'block LOGIN', 'update LOGIN --name Renamed'])(
    'leaves a user alone who was changed here since: user %s',
    async (command) => {
      const { row } = await movedUser();
      await json(`user ${command.replace('LOGIN', row.login)}`, 'correct horse 7 staple\n');
      const before = await json(`user show ${row.login}`);
      const stored = async () =>
        (await pool.query('select password_hash from users where login = $1', [row.login])).rows;
      const hashes = await stored();
      const changed = { ...row, name: 'New Name', status: 'blocked', password_hash: hash(newSecret()) };
      expect(await update('user', [changed])).toEqual({ newer_here: 1 });
      expect(await differences('user', [changed])).toEqual([
        expect.stringMatching(/^login: has changed here: (user_|pass)/),
      ]);
      expect([await json(`user show ${row.login}`), await stored()]).toEqual([before, hashes]);
      const file = join(folder, some('report'));
      await imports('user', [changed], `--update --bad ${file}`);
      const told = { line: 1, field: 'login', newer_here: true };
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(told);
    },
  );

  it('leaves a user alone who is changed here during the update', async () => {
    const { row } = await movedUser();
    const { user_id: id } = await json(`user show ${row.login}`);
    const updating = await transaction(pool, async (changing) => {
      await changing.query(`update users set password_hash = 'of the user' where user_id = $1`, [id]);
      const updating = update('user', [{ ...row, password_hash: hash(newSecret()) }]);
      await waitForLocks(pool, 1);
      await changing.query(`insert into audit_events (kind, user_id) values ('password_changed', $1)`, [id]);
      return { updating };
    });
    expect(await updating.updating).toEqual({ newer_here: 1 });
    await pool.query(`update users set password_hash = $2 where user_id = $1`, [id, row.password_hash]);
  });
});

describe('assent client import --update', () => {
  const live = async (id: string) =>
    (await json<Row[]>(`client secret list ${id}`)).filter(({ retired_at }) => retired_at === null);

  it('takes settings and a new secret, which replaces the imported one', async () => {
    const [secret, next] = [newSecret(), newSecret()];
    const settings = { rights: ['account-info'], most: '30,5000.00', site: 'https://old.example' };
    const row = clientOf({ secret, ...settings });
    await imports('client', [row]);
    const id = row.client_id;
    expect(await update('client', [row])).toEqual({ unchanged: 1 });
    const redirect_uri = 'https://new.example/';
    const changed = { ...row, secret: next, most: '7,100', rights: undefined, redirect_uri };
    expect(await differences('client', [changed])).toEqual([
      'client_id: most_sum, most_days, redirect_uri, allowed_rights, secret',
    ]);
    expect(await update('client', [changed])).toEqual({ updated: 1 });
    expect(await json(`client show ${id}`)).toMatchObject({
      ...{ redirect_uri, allowed_rights: null, most: { days: 7, sum: '100' } },
    });
    const user = await server.createUser();
    const useSecret = async (clientSecret: string) => {
      const moved = { clientId: id, clientSecret, redirectUri: redirect_uri };
      const fields = { scope: 'account-info', instance_name: some('i') };
      return isActive(await obtainToken(new Agent(server.baseUrl), moved, user, fields));
    };
    expect(await useSecret(next)).toBe(true);
    await expect(useSecret(secret)).rejects.toThrow();
    expect(await live(id)).toHaveLength(1);
    expect(await update('client', [{ ...changed, secret }])).toEqual({ updated: 1 });
    expect(await useSecret(secret)).toBe(true);
    const { rows } = await pool.query(
      'select kind from audit_events where client_id = $1 and grant_id is null',
      [id],
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['client_imported', 'client_imported', 'client_imported']);
  });

  it.each(['update ID --name Here', 'secret add ID', 'block ID', 'update ID --most 1,1'])(
    'leaves an application alone that was changed here since: client %s',
    async (command) => {
      const row = clientOf({ secret: newSecret() });
      await imports('client', [row]);
      await json(`client ${command.replace('ID', row.client_id)}`);
      const before = await json(`client show ${row.client_id}`);
      expect(await update('client', [{ ...row, site: 'https://new.example' }])).toEqual({ newer_here: 1 });
      expect(await json(`client show ${row.client_id}`)).toEqual(before);
    },
  );

  it('blocks with --prune what the file lacks, until a file has it again', async () => {
    const [kept, gone, changed] = [clientOf(), clientOf(), clientOf()];
    const native = await server.createClient();
    await imports('client', [kept, gone, changed]);
    await json(`client update ${changed.client_id} --name "${some('Here')}"`);
    const statusOf = async (id: string) => (await json(`client show ${id}`)).status;
    const lacks = async (more: string, rows: readonly Row[] = [kept]) =>
      ((await imports('client', rows, `--update --prune ${more}`)).blocked as string[]).includes(
        gone.client_id,
      );
    expect([await lacks('--dry-run'), await statusOf(gone.client_id)]).toEqual([true, 'active']);
    expect(await lacks('', [kept, { ...gone, name: '' }])).toBe(false);
    expect(await lacks('', [])).toBe(false);
    expect(await lacks('')).toBe(true);
    expect(await lacks('')).toBe(false);
    expect(await statusOf(gone.client_id)).toBe('blocked');
    for (const id of [kept.client_id, changed.client_id, native.clientId])
      expect([id, await statusOf(id)]).toEqual([id, 'active']);
    expect(await differences('client', [gone])).toEqual(['client_id: active']);
    expect(await update('client', [gone])).toEqual({ updated: 1 });
    expect(await statusOf(gone.client_id)).toBe('active');
    const { stderr } = await assent(`client import ${fileOf([kept])} --prune`);
    expect(stderr).toContain(`blocked ${gone.client_id}\n`);
  });
});

describe('assent grant import --update, and grant revoke --hashes', () => {
  async function ground() {
    const { row: user } = await movedUser();
    const { client_id } = clientOf();
    await imports('client', [clientOf({ client_id, rights: ['account-info', 'operation-history'] })]);
    return (more: Row = {}) => ({
      ...{ login: user.login, external_id: user.external_id, client_id, scope: 'account-info' },
      ...{ token: randomUUID(), issued_at: '2026-10-01T00:00:00Z', ...more },
    });
  }

  it('takes another scope or time of the same token, unless it was revoked here', async () => {
    const grantOf = await ground();
    const row = grantOf();
    await imports('grant', [row]);
    const wider = { ...row, scope: 'account-info operation-history', issued_at: '2026-09-01T00:00:00Z' };
    expect(await counts('grant', [wider])).toEqual({ bad: 1 });
    expect(await update('grant', [{ ...row, scope: 'payment-shop.limit(1,5)' }])).toEqual({ bad: 1 });
    expect(await update('grant', [wider])).toEqual({ updated: 1 });
    expect(await introspect(server, resource, row.token)).toMatchObject({
      ...{ active: true, scope: wider.scope, iat: Date.parse(wider.issued_at) / 1000 },
    });
    expect(await update('grant', [wider])).toEqual({ unchanged: 1 });
    const hashes = fileIn(folder, some('hashes'), `${hexOf(sha256(row.token))}\n`);
    expect(await json(`grant revoke --hashes ${hashes} --yes`)).toMatchObject({ revoked: 1 });
    expect(await update('grant', [row])).toEqual({ newer_here: 1 });
    expect(await isActive(row.token)).toBe(false);
  });

  it('revokes imported tokens by their SHA-256, not what replaced them', async () => {
    const grantOf = await ground();
    const [row, replaced] = [grantOf(), grantOf({ instance_name: 'replaced' })];
    const kept = grantOf({ instance_name: 'kept' });
    const later = { ...replaced, token: randomUUID(), issued_at: '2026-11-01T00:00:00Z' };
    await imports('grant', [row, replaced, kept]);
    await imports('grant', [later]);
    const digests = [row, replaced].map(({ token }) => hexOf(sha256(token)));
    const hashes = fileIn(folder, some('hashes'), `${digests.join('\r\n').toUpperCase()}\n\nno digest\n`);
    const { code, stderr } = await assent(`grant revoke --hashes ${hashes}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('pass --yes to revoke 1 authorization\n')]);
    expect(await json(`grant revoke --hashes ${hashes} --yes`)).toMatchObject({
      ...{ revoked: 1, hashes, warnings: [expect.stringContaining("lines that can't be read: 1 in")] },
    });
    const active = await Promise.all([row, later, kept].map(({ token }) => isActive(token)));
    expect(active).toEqual([false, true, true]);
    expect(await json(`grant revoke --hashes ${hashes} --yes`)).toMatchObject({ revoked: 0 });
  });
});

describe('the options of an import', () => {
  it('forces one kind of doubt without the others', async () => {
    const weak = clientOf({ secret: randomBytes(8).toString('hex') });
    const rows = [weak, clientOf({ name: 'Bank ✔' })];
    for (const doubt of ['weak-secret', 'look-alike'])
      expect(await counts('client', rows, `--force ${doubt} --dry-run`)).toEqual({
        ...{ imported: 1, bad: 1, forced: 1 },
      });
    expect(await counts('client', rows, '--force costly-hash --dry-run')).toEqual({ bad: 2 });
    expect(await counts('client', rows, '--force --dry-run')).toEqual({ imported: 2, forced: 2 });
    const { code, stderr } = await assent(`client import --force ${fileOf(rows)}`);
    const choices = 'Allowed choices are all, look-alike, weak-secret';
    expect([code, stderr]).toEqual([2, expect.stringContaining(choices)]);
  });

  it('replaces the report of an earlier import, and no other file', async () => {
    const file = join(folder, some('report'));
    const { row } = userOf();
    for (const name of ['', '', 'Anna', '']) {
      await imports('user', [{ ...row, name }], `--bad ${file}`);
      const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
      expect(lines.map((line) => JSON.parse(line).field)).toEqual(name === '' ? ['name'] : []);
    }
    expect(readdirSync(folder).filter((name) => name.startsWith(basename(file)))).toHaveLength(1);
    chmodSync(file, 0o644);
    for (const [other, mode] of [
      [file, 0o644],
      [fileIn(folder, some('other'), 'precious'), 0o600],
    ] as const) {
      chmodSync(other, mode);
      const before = readFileSync(other, 'utf8');
      const { code, stderr } = await assent(`user import ${fileOf([row])} --bad ${other}`);
      expect([code, stderr]).toEqual([2, `${other} already exists: pass --bad a new file name\n`]);
      expect(readFileSync(other, 'utf8')).toBe(before);
    }
  });
});

it('all that was written is consistent', expectConsistent);
