import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { doctor, troublesIn } from '../processes/findings.ts';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { createRole, ownDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const { database } = server;
const folder = useFolder();
const variables = { ...onDatabase(database.url), ASSENT_OPERATOR: 'mover' };
const { assent, json } = commandsOn(variables);
const resource = await server.createResource();

const BCRYPT = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const OTHER = `${BCRYPT.slice(0, -1)}2`;

type Kind = 'user' | 'client' | 'grant';
type Fields = Record<string, unknown>;
interface Report {
  lines: number;
  imported: number;
  unchanged: number;
  skipped: number;
  bad: number;
  bad_lines: { line: number; field: string | null; reason: string }[];
  forced?: number;
  forced_lines?: { line: number; field: string | null; reason: string }[];
}

/** A file, since the ledger takes the first lines of standard input for passwords. */
function fileOf(rows: readonly (Fields | string)[]): string {
  const lines = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`);
  return fileIn(folder, some('rows'), lines.join(''));
}

/** What `--json` says, and the exit code. No secret of the rows may be in any output. */
async function imports(kind: Kind, rows: readonly (Fields | string)[], more = '') {
  const { code, stdout, stderr } = await assent(`${kind} import ${fileOf(rows)} ${more} --json`);
  expect(stderr).toBe('');
  const { lines, bad_lines, ...counts } = JSON.parse(stdout) as Report;
  expect(lines).toBe(counts.imported + counts.unchanged + counts.skipped + counts.bad);
  expect(code).toBe(counts.bad > 0 ? 1 : 0);
  for (const row of rows)
    for (const [name, value] of Object.entries(typeof row === 'string' ? {} : row))
      if (/hash|token|secret/.test(name) && typeof value === 'string' && value.length > 8)
        expect(stdout).not.toContain(value);
  return { ...counts, bad_lines };
}

/** The counts, without those that are 0. */
async function counts(kind: Kind, rows: readonly (Fields | string)[], more = '') {
  const { bad_lines, ...all } = await imports(kind, rows, more);
  return Object.fromEntries(Object.entries(all).filter(([name, count]) => name !== 'dry_run' && count !== 0));
}

const reasonsOf = async (kind: Kind, rows: readonly (Fields | string)[]) =>
  (await imports(kind, rows)).bad_lines.map(({ line, field, reason }) => `${line} ${field}: ${reason}`);

const some = (prefix: string) => `${prefix}-${randomBytes(4).toString('hex')}`;
const userOf = (more: Fields = {}): Fields & { login: string } => ({
  login: some('u'),
  name: 'Anna Moved',
  password_hash: BCRYPT,
  ...more,
});
const clientOf = (more: Fields = {}) => ({
  client_id: some('c'),
  name: 'Old Shop',
  redirect_uri: 'https://old.example/back',
  ...more,
});
const sql = async <Row extends object>(text: string, ...values: unknown[]) =>
  (await database.pool.query<Row>(text, values)).rows;
const trailOf = (column: string, id: unknown) =>
  sql(`select kind, operator, detail from audit_events where ${column} = $1 order by at`, id);

const HOUR = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

/** A user and an application that are there, and tokens for them. */
async function ground() {
  const [user, client] = [userOf({ external_id: some('x') }), clientOf()];
  expect(await counts('user', [user])).toEqual({ imported: 1 });
  expect(await counts('client', [client])).toEqual({ imported: 1 });
  const grantOf = (more: Fields = {}) => ({
    login: user.login,
    client_id: client.client_id,
    scope: 'account-info',
    token: randomUUID(),
    issued_at: ago(HOUR),
    ...more,
  });
  const [{ user_id: userId } = {}] = await sql<{ user_id: string }>(
    'select user_id from users where login = $1',
    user.login,
  );
  return { user, client, grantOf, userId };
}
const isActive = async (token: unknown) => (await introspect(server, resource, String(token))).active;

describe('assent user import', () => {
  it('writes users with all their fields, and an event each', async () => {
    const row = userOf({
      external_id: some('x'),
      payment_password_hash: `{bcrypt}${OTHER}`,
      status: 'blocked',
      created_at: '2015-03-04T05:06:07+02:00',
    });
    expect(await counts('user', [row, userOf({ password_hash: null })])).toEqual({ imported: 2 });
    const [user] = await sql<{ user_id: string }>('select * from users where login = $1', row.login);
    expect(user).toMatchObject({
      ...{ name: row.name, external_id: row.external_id, status: 'blocked', password_hash: BCRYPT },
      ...{ payment_password_hash: OTHER, created_at: new Date('2015-03-04T03:06:07Z') },
    });
    expect(await trailOf('user_id', user?.user_id)).toEqual([
      { kind: 'user_imported', operator: 'mover', detail: null },
    ]);
  });

  it('reports number, field and reason of each bad line, and imports the others', async () => {
    const [taken, external] = [userOf({ external_id: some('x') }), some('y')];
    const good = [userOf({ external_id: external }), userOf()];
    await imports('user', [taken]);
    const lines = [
      ...['{', '[]', '"text"', '', '   '],
      { ...userOf(), passwordHash: 44 },
      { ...userOf(), [BCRYPT]: 1 },
      `{"__proto__":{},${JSON.stringify(userOf()).slice(1)}`,
      { name: 'No Login' },
      userOf({ login: 7 }),
      userOf({ name: 'a\u0000b' }),
      userOf({ password_hash: `${BCRYPT}!` }),
      userOf({ payment_password_hash: '$2b$15$'.padEnd(60, 'a') }),
      userOf({ password_hash: `pbkdf2_sha256$1000$a\u0000b$${'A'.repeat(43)}` }),
      userOf({ external_id: 'with\ttab' }),
      userOf({ status: 'gone' }),
      userOf({ created_at: '2015-03-04T05:06:07' }),
      userOf({ created_at: new Date(Date.now() + HOUR).toISOString() }),
      userOf({ created_at: '0001-01-01T00:00:00Z' }),
      { ...good[1], name: 'Another Anna' },
      { ...taken, login: taken.login.toUpperCase(), password_hash: OTHER },
      { ...taken, external_id: undefined },
      userOf({ external_id: taken.external_id }),
      userOf({ external_id: external }),
      { ...good[1], name: 'The Same Login' },
      JSON.stringify(userOf()).padEnd(65_537),
    ];
    const { bad_lines, ...all } = await imports('user', [...good, ...lines]);
    expect(all).toMatchObject({ imported: 2, bad: 24, unchanged: 0 });
    expect(bad_lines).toHaveLength(20);
    const file = join(folder, 'bad.ndjson');
    await assent(`user import ${fileOf([...good, ...lines])} --bad ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bad = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(bad.slice(0, 20)).toEqual(bad_lines);
    expect(bad.map(({ line, field, reason }) => `${line} ${field}: ${reason}`)).toEqual([
      '3 null: is not JSON in UTF-8',
      '4 null: must be a JSON object',
      '5 null: must be a JSON object',
      '8 passwordHash: is not a field of this import',
      '9 (unreadable): is not a field of this import',
      '10 (unreadable): is not a field of this import',
      '11 login: is missing',
      '12 login: must be a string',
      '13 name: has a character that the database can’t store',
      '14 password_hash: its form is unknown, or it is truncated',
      expect.stringMatching(/^15 payment_password_hash: it/),
      '16 password_hash: has a character that the database can’t store',
      expect.stringMatching(/^17 external_id: the external id needs /),
      '18 status: is neither active nor blocked',
      '19 created_at: must be a time with zone: 2026-11-20T09:30:00Z',
      '20 created_at: is in the future',
      '21 created_at: is before 1970',
      '22 login: is taken by a user with another name',
      '23 login: is taken by a user with another password',
      '24 login: is taken by a user with another external_id',
      '25 external_id: is taken by another user',
      '26 external_id: is taken by another user',
      '27 login: is taken by a user with another name',
      '28 null: is longer than 64 KB',
    ]);
    expect(readFileSync(file, 'utf8')).not.toContain(BCRYPT.slice(7));
  });

  it('recognises users that it imported as unchanged, even after their first sign-in, but not others', async () => {
    const [moved, native] = [userOf(), await server.createUser({ name: 'Anna Moved' })];
    const twice = [moved, { ...moved }];
    expect(await counts('user', twice)).toEqual({ imported: 1, unchanged: 1 });
    const renewed = `update users set password_hash = (select password_hash from users where user_id = $1) where login = $2`;
    await sql(renewed, native.userId, moved.login);
    expect(await counts('user', twice)).toEqual({ unchanged: 2 });
    const others = [
      { ...moved, login: native.login },
      { ...moved, payment_password_hash: OTHER },
    ];
    expect(await reasonsOf('user', others)).toEqual([
      '1 login: is taken by a user with another password',
      '2 login: is taken by a user with another password',
    ]);
  });

  it('reads lines with CRLF, a BOM or without a final newline, and only UTF-8', async () => {
    const [first, second, third] = [userOf(), userOf(), userOf({ name: 'Ägir' })].map((row) =>
      JSON.stringify(row),
    );
    const file = join(folder, 'users.ndjson');
    const latin1 = Buffer.from(`${third}\n`, 'latin1');
    writeFileSync(
      file,
      Buffer.concat([Buffer.from(`\ufeff${first}\r\n\r\n`), latin1, Buffer.from(`${second}`)]),
    );
    const { code, stdout, stderr } = await assent(`user import ${file}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'line 3: is not JSON in UTF-8\nlines: 3, imported: 2, unchanged: 0, skipped: 0, bad: 1\n',
    );
  });

  it('refuses a --bad file that exists, also through links', async () => {
    const file = fileOf([userOf()]);
    const [soft, hard, nowhere] = ['soft', 'hard', 'nowhere'].map((name) => join(folder, some(name)));
    symlinkSync(file, soft ?? '');
    linkSync(file, hard ?? '');
    symlinkSync(join(folder, some('none')), nowhere ?? '');
    const again = `${folder}/../${folder.split('/').at(-1)}/${file.split('/').at(-1)}`;
    for (const bad of [file, soft, hard, again, nowhere, fileOf([])])
      expect(await assent(`user import ${file} --bad ${bad}`)).toMatchObject({
        ...{ code: 2, stderr: `${bad} already exists: pass --bad a new file name\n` },
      });
    expect(readFileSync(file, 'utf8')).toContain('Anna Moved');
  });

  it('prints the name of an unknown field, but no login and no part of a secret', async () => {
    const keys = [
      'emailVerified',
      'redirect_uris',
      'created-at',
      'anna_petrova',
      'kXhzQmWvBtRpLdNc',
      'annapetrova',
    ];
    const reasons = await reasonsOf(
      'user',
      keys.map((key) => ({ ...userOf(), [key]: 1 })),
    );
    const shown = reasons.map((reason) => /^\d+ (.+): is not a field of this import$/.exec(reason)?.[1]);
    expect(shown).toEqual([...keys.slice(0, 3), '(unreadable)', '(unreadable)', '(unreadable)']);
  });

  it('refuses a duplicate field, and a whole file that is an array, with a sentence', async () => {
    const [one, other] = [userOf(), userOf()];
    const twice = JSON.stringify(one).replace('{', `{"login":"${other.login}",`);
    expect(await reasonsOf('user', [twice, { ...one, name: 'A "name": B' }])).toEqual([
      '1 null: has a field twice',
    ]);
    for (const text of [`\ufeff\n [${JSON.stringify(other)}]`, `[\n${JSON.stringify(other)}\n]`]) {
      const { code, stdout, stderr } = await assent(`user import ${fileOf([text])}`);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(
        'the file is a JSON array: convert it to one JSON object per line with jq -c ".[]"\n',
      );
    }
    expect(await sql('select from users where login = $1', other.login)).toEqual([]);
  });

  it('refuses one hash for both passwords, in whatever form it is written', async () => {
    const rows = [
      userOf({ payment_password_hash: BCRYPT }),
      userOf({ payment_password_hash: `{bcrypt}${BCRYPT.replace('$2b', '$2a')}` }),
    ];
    for (const more of ['', '--force'])
      expect((await imports('user', rows, more)).bad_lines.map(({ field }) => field)).toEqual(
        rows.map(() => 'payment_password_hash'),
      );
  });

  it('accepts a costly hash only with --force, and names it', async () => {
    const row = userOf({ password_hash: BCRYPT.replace('$10$', '$13$') });
    expect(await reasonsOf('user', [row])).toEqual([
      '1 password_hash: is slow to check: pass `force` to accept that',
    ]);
    const forced = await imports('user', [userOf(), row], '--force');
    expect(forced).toMatchObject({
      imported: 2,
      bad: 0,
      forced: 1,
      forced_lines: [{ line: 2, field: 'password_hash' }],
    });
    expect(await counts('user', [row])).toEqual({ unchanged: 1 });
  });

  it('adds the external_id to a user who has none, ends the sessions, and records it in the trail', async () => {
    const [moved, native, other] = [userOf(), await server.createUser({ name: 'Native' }), userOf()];
    await imports('user', [moved, other]);
    const agent = new Agent(server.baseUrl);
    await obtainToken(agent, await server.createClient(), native);
    const sessions = () =>
      sql('select from sessions join users using (user_id) where login = $1', native.login);
    expect(await sessions()).toHaveLength(1);
    const rows = [
      { ...moved, external_id: some('x') },
      { login: native.login, name: 'Native', external_id: some('x') },
    ];
    const taken = { ...other, external_id: rows[0]?.external_id };
    expect(await counts('user', rows, '--dry-run')).toEqual({ imported: 2 });
    expect(await counts('user', [...rows, taken])).toEqual({ imported: 2, bad: 1 });
    expect(await reasonsOf('user', [...rows, taken])).toEqual(['3 external_id: is taken by another user']);
    expect(await sessions()).toEqual([]);
    for (const { login, external_id } of rows) {
      const { user_id } = await json<Fields>(`user show ${login}`);
      expect(await json(`user show ${login}`)).toMatchObject({ external_id });
      const trail = await trailOf('user_id', user_id);
      expect(trail.filter((event) => (event as Fields).kind === 'user_updated')).toEqual([
        { kind: 'user_updated', operator: 'mover', detail: { fields: ['external_id'] } },
      ]);
    }
    const wrong = { ...other, external_id: some('x'), name: 'Another' };
    expect(await reasonsOf('user', [wrong])).toEqual(['1 login: is taken by a user with another name']);
  });

  it('skips users deleted by login or external_id according to the trail, without revealing them', async () => {
    const [one, other, never] = [userOf({ external_id: some('x') }), userOf(), userOf()];
    await imports('user', [one, other]);
    for (const { login } of [one, other]) await json(`user delete ${login} --yes`);
    const rows = [
      { ...one, login: some('renamed') },
      { ...one, external_id: undefined, login: one.login.toUpperCase() },
      other,
      never,
      { ...never, login: other.login.replace('u-', 'x-') },
    ];
    expect(await counts('user', rows)).toEqual({ imported: 2, skipped: 3 });
    const events = await sql<Fields>(`select detail::text from audit_events where kind = 'user_deleted'`);
    for (const { detail } of events)
      for (const name of [one.login, one.external_id, other.login]) expect(detail).not.toContain(name);
  });

  it('skips a former name of a user, existing or deleted', async () => {
    const [there, gone] = [userOf({ external_id: some('x') }), userOf({ external_id: some('x') })];
    await imports('user', [there, gone]);
    for (const { login } of [there, gone])
      await json(`user update ${login} --login ${login}-new --external-id ${login}-id`);
    expect(await counts('user', [there, gone])).toEqual({ skipped: 2 });
    await json(`user delete ${gone.login}-new --yes`);
    expect(await counts('user', [there, gone])).toEqual({ skipped: 2 });
    await json(`user update ${there.login}-new --login ${there.login} --external-id ${there.external_id}`);
    expect(await counts('user', [there])).toEqual({ unchanged: 1 });
  });

  it('treats a user whose name the provider changed as unchanged', async () => {
    const user = userOf({ external_id: some('x') });
    await imports('user', [user]);
    await json(`user update ${user.login} --name Renamed`);
    expect(await counts('user', [user])).toEqual({ unchanged: 1 });
  });

  it('writes nothing in a dry run, which checks against the database too', async () => {
    const [there, made] = [userOf(), userOf()];
    await imports('user', [there]);
    const rows = [made, there, { ...there, name: 'Another' }];
    const before = await sql('select count(*) from audit_events');
    expect(await counts('user', rows, '--dry-run')).toEqual({ imported: 1, unchanged: 1, bad: 1 });
    expect(await sql('select from users where login = $1', made.login)).toEqual([]);
    expect(await sql('select count(*) from audit_events')).toEqual(before);
    const { stderr } = await assent(`user import ${fileOf([made])} --dry-run`);
    expect(stderr).toMatch(/imported: 1, .* \(dry run: nothing was written\)\n$/);
  });

  it('prints 20 bad lines and the number of others', async () => {
    const { code, stderr } = await assent('user import', '{\n'.repeat(1_021));
    expect(code).toBe(1);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(22);
    expect(lines.slice(19)).toEqual([
      'line 20: is not JSON in UTF-8',
      'and 1001 more bad lines',
      'lines: 1021, imported: 0, unchanged: 0, skipped: 0, bad: 1021',
    ]);
  });

  it('requires the owner of the tables', async () => {
    const other = await ownDatabase();
    const role = await createRole();
    await commandsOn(onDatabase(other.url)).json(`migrate --server-role ${role.name}`);
    const asServer = commandsOn(onDatabase(role.urlOf(other)));
    expect(await asServer.refused('user import', 1)).toBe(
      'only the owner of the tables may import: set DATABASE_URL to the role that migrates\n',
    );
  });
});

describe('assent client import', () => {
  it('keeps client_id and secret, which then work', async () => {
    const secret = some('a secret of another service');
    const row = clientOf({
      secret,
      rights: ['account-info'],
      most: '30,5000',
      site: 'https://old.example',
      reviewed: true,
    });
    const digest = { ...clientOf(), secret_sha256: hexOf(sha256(secret)).toUpperCase() };
    const open = clientOf();
    expect(await counts('client', [row, digest, open])).toEqual({ imported: 3 });
    expect(await counts('client', [row, digest, open])).toEqual({ unchanged: 3 });
    expect(await json(`client show ${row.client_id}`)).toMatchObject({
      ...{ name: 'Old Shop', verified: true, allowed_rights: ['account-info'], site: 'https://old.example' },
      ...{ most: { days: 30, sum: '5000' }, reviewed: true, status: 'active', user_limits: false },
    });
    const [{ secret_id } = {}] = await json<Fields[]>(`client secret list ${row.client_id}`);
    expect(await trailOf('client_id', row.client_id)).toEqual([
      {
        kind: 'client_imported',
        operator: 'mover',
        detail: expect.objectContaining({ verified: true, secret_id }),
      },
    ]);
    const user = await server.createUser();
    for (const { client_id } of [row, digest]) {
      const client = {
        clientId: client_id,
        clientSecret: secret,
        redirectUri: row.redirect_uri,
        name: row.name,
      };
      const fields = { client_id, redirect_uri: row.redirect_uri, scope: 'account-info' };
      expect(await isActive(await obtainToken(new Agent(server.baseUrl), client, user, fields))).toBe(true);
    }
  });

  it('sets OAuth 2.1 if asked, and accepts unsafe redirect URIs, which doctor counts', async () => {
    const held = clientOf({ oauth21: true, redirect_uri: 'http://127.0.0.1/back' });
    const unsafe = ['http://old.example/', 'intent:x', 'market://x', 'android-app:x'].map((redirect_uri) =>
      clientOf({ redirect_uri, oauth21: false }),
    );
    const counted = async () => {
      const { findings } = await doctor({ ...variables, BASE_URL: server.baseUrl });
      const found = findings.find(({ check }) => check === 'redirects');
      return { ...found, count: Number(/: (\d+)/.exec(found?.text ?? '')?.[1]) };
    };
    expect(await counted()).toMatchObject({ level: 'ok', count: 0 });
    expect(await counts('client', [held, ...unsafe])).toEqual({ imported: 5 });
    expect(await counts('client', [held, ...unsafe])).toEqual({ unchanged: 5 });
    expect(await counted()).toMatchObject({
      level: 'advice',
      count: 4,
      text: expect.stringMatching(/, such as c-[0-9a-f]{8}, c-/),
    });
    expect(await reasonsOf('client', [{ ...held, oauth21: undefined }])).toEqual([
      '1 client_id: is taken by an application with other settings',
    ]);
    expect(await json(`client show ${held.client_id}`)).toMatchObject({ oauth21: true });
    expect(await json(`client show ${unsafe[0]?.client_id}`)).toMatchObject({ oauth21: false });
    expect(await trailOf('client_id', held.client_id)).toMatchObject([{ detail: { oauth21: true } }]);
    for (const { client_id } of unsafe) await json(`client delete ${client_id} --yes`);
  });

  it('refuses invalid applications, and ids that are taken', async () => {
    const taken = clientOf({ secret: some('a secret of another') });
    const rows = [
      taken,
      { ...taken, secret: some('a secret of another') },
      { ...taken, secret: undefined },
      { ...taken, name: 'Another' },
      clientOf({ client_id: 'a b' }),
      clientOf({ redirect_uri: 'javascript:x' }),
      clientOf({ secret: 'short' }),
      clientOf({ secret_sha256: 'abc' }),
      clientOf({ secret: some('a secret of another'), secret_sha256: '0'.repeat(64) }),
      clientOf({ rights: ['all'] }),
      clientOf({ rights: 'account-info' }),
      clientOf({ most: '0,0' }),
      clientOf({ site: 'http://x' }),
      clientOf({ reviewed: 'yes' }),
      ...[1, 'true', null].map((oauth21) => clientOf({ oauth21 })),
    ];
    const reasons = await reasonsOf('client', rows);
    expect(reasons.map((reason) => reason.replace(/^(\d+ \w+): .*(secret|settings)$/, '$1 $2'))).toEqual([
      '2 client_id secret',
      '3 client_id secret',
      '4 client_id settings',
      expect.stringMatching(/^5 client_id: the client id needs/),
      expect.stringMatching(/^6 redirect_uri: /),
      expect.stringMatching(/^7 secret: the secret needs 16 to 256/),
      '8 secret_sha256: is not a SHA-256 in hex',
      expect.stringMatching(/^9 null: has both/),
      expect.stringMatching(/^10 rights: /),
      '11 rights: must be a list of rights',
      '12 most: must be days and a sum, such as 30,5000',
      expect.stringMatching(/^13 site: the site must be/),
      '14 reviewed: is neither true nor false',
      ...[15, 16, 17].map((line) => `${line} oauth21: is neither true nor false`),
    ]);
  });
});

describe('assent client import, of what client create refuses', () => {
  it('refuses names that resemble another one in the database or in earlier lines, and names forced ones', async () => {
    const name = `Kiosk ${some('n').replaceAll(/[0-9]/g, 'k')}`;
    const [there, first] = [clientOf({ name }), clientOf({ name: `Other ${name}` })];
    await imports('client', [there]);
    const rows = [
      clientOf({ name }),
      clientOf({ name: name.replace('o', '0'), reviewed: true }),
      first,
      clientOf({ name: `0ther ${name}` }),
      clientOf({ name: 'Аssent' }),
      clientOf({ name: 'A55ENT' }),
      clientOf({ name: 'Bank ✔' }),
    ];
    const dry = await imports('client', rows, '--dry-run');
    expect(dry).toMatchObject({ imported: 2, bad: 5 });
    const { bad_lines, ...refused } = await imports('client', rows);
    expect(refused).toMatchObject({ imported: 2, bad: 5 });
    expect(bad_lines).toEqual(dry.bad_lines);
    expect(bad_lines.map(({ line, field }) => `${line} ${field}`)).toEqual([
      '2 name',
      '4 name',
      '5 name',
      '6 name',
      '7 name',
    ]);
    expect(bad_lines[0]?.reason).toBe(
      `looks like that of another application, “${name}”: pass \`force\` to accept it`,
    );
    expect(await counts('client', [there, rows[0] ?? {}, first])).toEqual({ unchanged: 3 });
    const file = join(folder, some('bad'));
    const forced = await assent(`client import ${fileOf(rows)} --force --bad ${file} --json`);
    expect(forced.code).toBe(0);
    const report = JSON.parse(forced.stdout) as Report;
    expect(report).toMatchObject({ imported: 5, unchanged: 2, bad: 0, bad_lines: [], forced: 5 });
    expect(report.forced_lines).toEqual(bad_lines);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      bad_lines.map((line) => ({ ...line, forced: true })),
    );
    const { stderr } = await assent(`client import ${fileOf([clientOf({ name: 'Bank ✔' })])} --force`);
    expect(stderr).toMatch(/^line 1, name: .*\(forced\)\nlines: 1, imported: 1, .*forced: 1/);
  });

  it('refuses weak secrets without --force', async () => {
    const weak = randomBytes(8).toString('hex');
    const rows = [
      clientOf({ secret: weak }),
      clientOf({ secret_sha256: hexOf(sha256('')) }),
      clientOf({ secret_sha256: hexOf(sha256('null')) }),
      clientOf({ rights: [] }),
    ];
    const names = async (more: string) =>
      (await imports('client', rows, more)).bad_lines.map(({ line, field }) => `${line} ${field}`);
    expect(await names('')).toEqual(['1 secret', '2 secret_sha256', '3 secret_sha256', '4 rights']);
    expect(await names('--force')).toEqual(['2 secret_sha256', '3 secret_sha256', '4 rights']);
  });

  it('skips applications deleted here, and their tokens', async () => {
    const { client, grantOf } = await ground();
    const row = grantOf();
    expect(await counts('grant', [row])).toEqual({ imported: 1 });
    await json(`client delete ${client.client_id} --yes`);
    expect(await counts('client', [client, clientOf()])).toEqual({ imported: 1, skipped: 1 });
    expect(await counts('grant', [row])).toEqual({ skipped: 1 });
    expect(await isActive(row.token)).toBe(false);
  });
});

describe('assent grant import', () => {
  it('keeps old tokens valid, by login or external_id, plain or as a digest', async () => {
    const { user, client, grantOf, userId } = await ground();
    const [token, second] = [randomUUID(), randomUUID()];
    const rows = [
      grantOf({ token, scope: 'payment-shop.limit(7,1500)' }),
      { ...grantOf({ token: undefined, instance_name: 'касса "1"' }), token_sha256: hexOf(sha256(second)) },
      { ...grantOf({ login: undefined, instance_name: 'by id' }), external_id: user.external_id },
    ];
    expect(await counts('grant', rows)).toEqual({ imported: 3 });
    expect(await counts('grant', rows)).toEqual({ unchanged: 3 });
    const shouted = { ...rows[1], token_sha256: hexOf(sha256(second)).toUpperCase() };
    expect(await counts('grant', [rows[1] ?? {}, shouted])).toEqual({ unchanged: 2 });
    expect(await introspect(server, resource, token)).toMatchObject({
      ...{ active: true, client_id: client.client_id, scope: 'payment-shop.limit(7,1500)' },
      iat: Math.floor(Date.parse(String(rows[0]?.issued_at)) / 1_000),
    });
    expect(await isActive(second)).toBe(true);
    const trail = await sql(
      `select kind, scope, instance_name from audit_events where user_id = $1 order by at`,
      userId,
    );
    expect(trail).toHaveLength(4);
    expect(trail).toContainEqual({ kind: 'imported', scope: 'account-info', instance_name: 'касса "1"' });
  });

  it('grants only what its application may request', async () => {
    const { grantOf } = await ground();
    const bounded = clientOf({
      rights: ['payment-shop', 'payment-p2p', 'payment.to-account'],
      most: '7,2000',
    });
    await imports('client', [bounded]);
    const of = (scope: string, client_id = bounded.client_id) =>
      grantOf({ client_id, scope, instance_name: some('i') });
    const open = String(grantOf().client_id);
    const rows = [
      of('payment-shop.limit(7,2000)'),
      of('payment-shop.limit(7,2000.01)'),
      of('payment-shop.limit(8,1)'),
      of('payment-shop'),
      of('account-info'),
      of('payment-shop.limit(1,10) payment-shop.limit(1,1000000)', open),
      of('payment-p2p payment.to-account("41")', open),
      of('payment-p2p.limit(1,5) payment-shop.limit(,5)', open),
      of('payment.to-account("a\u202eb")', open),
      of('payment.to-account("pауpаl@x.example","email")', open),
      of(`payment.to-account("${'1'.repeat(129)}")`, open),
      of(`account-info${' '.repeat(2_500)}`, open),
    ];
    for (const more of ['', '--force']) {
      const { imported, unchanged, bad_lines } = await imports('grant', rows, more);
      expect([imported, unchanged]).toEqual(more === '' ? [1, 0] : [0, 1]);
      expect(bad_lines.map(({ line, field }) => `${line} ${field}`)).toEqual(
        rows.slice(1).map((_, index) => `${index + 2} scope`),
      );
    }
    await json(`client update ${bounded.client_id} --most 1,1`);
    expect(await counts('grant', rows.slice(0, 1))).toEqual({ unchanged: 1 });
  });

  it('treats an empty instance_name as none, so that a new authorization annuls its token', async () => {
    const [user, client] = [await server.createUser({ paymentPassword: null }), await server.createClient()];
    const token = randomUUID();
    const named = { login: user.login, client_id: client.clientId, token, issued_at: ago(HOUR) };
    const row = { ...named, instance_name: '', scope: 'payment-p2p.limit(1,99999)' };
    expect(await counts('grant', [row])).toEqual({ imported: 1 });
    expect(await isActive(token)).toBe(true);
    await obtainToken(new Agent(server.baseUrl), client, user, { scope: 'account-info' });
    expect(await isActive(token)).toBe(false);
  });

  it('accepts a login only of a user without external_id or imported; login and external_id must match', async () => {
    const { user, client, grantOf } = await ground();
    const other = userOf({ external_id: some('x') });
    await imports('user', [other]);
    const newcomer = some('newcomer');
    await sql(
      `insert into users (login, login_key, name, external_id) values ($1, $1, 'Anna', $2)`,
      newcomer,
      some('sub'),
    );
    const rows = [
      grantOf({ login: newcomer }),
      grantOf({ external_id: other.external_id }),
      grantOf({ external_id: user.external_id }),
      { ...grantOf({ login: undefined, instance_name: 'a' }), external_id: other.external_id },
    ];
    expect(client.name).toBe('Old Shop');
    expect(await reasonsOf('grant', rows)).toEqual([
      '1 login: belongs to a user with an external_id who was not imported: give both',
      '2 login: belongs to a different user than the external_id',
    ]);
  });

  it('refuses weak tokens, and Assent’s own, even by their digest', async () => {
    const agent = new Agent(server.baseUrl);
    const [user, client] = [await server.createUser(), await server.createClient()];
    const ours = await obtainToken(agent, client, user);
    const named = { login: user.login, client_id: client.clientId, scope: 'account-info', issued_at: ago(1) };
    const { iat = 0 } = (await introspect(server, resource, ours)) as { iat?: number };
    const rows = [
      { ...named, token: 'k' },
      { ...named, token: 'k'.repeat(40) },
      { ...named, token: '12345678'.repeat(5) },
      { ...named, token: '0123456789'.repeat(3) },
      { ...named, token: randomBytes(12).toString('hex') },
      { ...named, token_sha256: hexOf(sha256('')) },
      { ...named, token_sha256: hexOf(sha256(ours)) },
      {
        ...named,
        token_sha256: hexOf(sha256(ours)),
        issued_at: new Date(iat * 1000).toISOString(),
        instance_name: 'b',
      },
    ];
    const fields = async (more: string) =>
      (await imports('grant', rows, more)).bad_lines.map(({ line, field }) => `${line} ${field}`);
    const others = ['6 token_sha256', '7 token_sha256', '8 token_sha256'];
    const guessable = ['1 token', '2 token', '3 token', '4 token', '5 token'];
    expect(await fields('--dry-run')).toEqual([...guessable, ...others]);
    expect(await fields('--dry-run --force')).toEqual(['1 token', ...others]);
    expect(await isActive(ours)).toBe(true);
  });

  it('skips tokens of deleted users, also if another user has the login now', async () => {
    const { user, grantOf } = await ground();
    const row = grantOf();
    await imports('grant', [row]);
    await json(`user delete ${user.login} --yes`);
    expect(await counts('grant', [row])).toEqual({ skipped: 1 });
    await imports('user', [user]);
    await assent(`user create ${user.login} --name Newcomer --password-stdin`, 'correct horse 7 staple\n');
    expect(await counts('grant', [row, { ...row, token: randomUUID() }])).toEqual({ skipped: 2 });
  });

  it('imports tokens of a blocked user or application, which stay refused until it is unblocked', async () => {
    const { user, client, grantOf } = await ground();
    for (const which of [`client block ${client.client_id}`, `user block ${user.login}`]) {
      await json(which);
      const row = grantOf({ instance_name: some('i') });
      expect(await counts('grant', [row])).toEqual({ imported: 1 });
      expect(await isActive(row.token)).toBe(false);
      await json(which.replace('block', 'unblock'));
      expect(await isActive(row.token)).toBe(true);
    }
  });

  it('refuses an unknown authorization, or one that the token does not belong to', async () => {
    const { grantOf } = await ground();
    const first = grantOf();
    const rows = [
      first,
      { ...first, instance_name: 'another' },
      { ...first, scope: 'incoming-transfers' },
      { ...first, issued_at: ago(2 * HOUR) },
      grantOf({ login: some('missing') }),
      grantOf({ login: undefined, external_id: some('missing') }),
      grantOf({ client_id: some('missing') }),
      grantOf({ external_id: 'x' }),
      grantOf({ login: undefined }),
      grantOf({ token: undefined }),
      grantOf({ token: `assent_at_${'A'.repeat(64)}` }),
      grantOf({ scope: 'everything()' }),
      grantOf({ scope: 'payment("a\u0000b")' }),
      grantOf({ instance_name: 'two  spaces' }),
      grantOf({ issued_at: new Date(Date.now() + HOUR).toISOString() }),
    ];
    expect(await reasonsOf('grant', rows)).toEqual([
      '2 token: belongs to another authorization',
      '3 token: exists with another scope or time',
      '4 token: exists with another scope or time',
      '5 login: matches no user',
      '6 external_id: matches no user',
      '7 client_id: matches no application',
      '8 external_id: matches no user',
      '9 null: needs login or external_id, or both',
      '10 null: needs either token or token_sha256',
      '11 token: has the form of Assent’s own tokens',
      expect.stringMatching(/^12 scope: expected a text in double quotes/),
      '13 scope: has a character that the database can’t store',
      expect.stringMatching(/^14 instance_name: /),
      '15 issued_at: is in the future',
    ]);
  });

  it.each(['in one batch', 'in two'])(
    'uses the later of two tokens of one authorization, %s',
    async (when) => {
      const { user, grantOf, userId } = await ground();
      for (const [instance_name, order] of [
        ['a', [1, 0]],
        ['b', [0, 1]],
      ] as const) {
        const pair = [
          grantOf({ instance_name, issued_at: ago(2 * HOUR) }),
          { ...grantOf({ instance_name, login: undefined }), external_id: user.external_id },
        ];
        const rows = order.map((index) => pair[index] ?? {});
        if (when === 'in one batch') expect(await counts('grant', rows)).toEqual({ imported: 1, skipped: 1 });
        else for (const row of rows) await imports('grant', [row]);
        expect([await isActive(pair[0]?.token), await isActive(pair[1]?.token)]).toEqual([false, true]);
        expect(await counts('grant', rows)).toEqual({ unchanged: 1, skipped: 1 });
      }
      const revisions = await sql<Fields>(
        'select revision from grants where user_id = $1 order by instance_name',
        userId,
      );
      expect(revisions.map(({ revision }) => revision)).toEqual(when === 'in two' ? [1, 2] : [1, 1]);
    },
  );

  it('keeps what was granted or revoked here meanwhile', async () => {
    const agent = new Agent(server.baseUrl);
    const [user, client] = [await server.createUser(), await server.createClient()];
    const grantOf = (instance_name: string, age: number) => ({
      ...{ login: user.login, client_id: client.clientId, instance_name, scope: 'account-info' },
      ...{ token: randomUUID(), issued_at: ago(age) },
    });
    const old = grantOf('replaced', HOUR);
    const gone = grantOf('revoked', HOUR);
    expect(await counts('grant', [old, gone])).toEqual({ imported: 2 });
    const fresh = await obtainToken(agent, client, user, { instance_name: 'replaced' });
    const native = await obtainToken(agent, client, user, { instance_name: 'native' });
    const form = {
      token: String(gone.token),
      client_id: client.clientId,
      client_secret: client.clientSecret ?? '',
    };
    expect((await agent.post('/oauth/revoke', form)).status).toBe(200);
    const later = ['replaced', 'native', 'revoked'].map((name) => grantOf(name, 1));
    expect(await counts('grant', [old, gone, ...later])).toEqual({ unchanged: 1, skipped: 4 });
    for (const token of [fresh, native]) expect(await isActive(token)).toBe(true);
    for (const { token } of [old, gone, ...later]) expect(await isActive(token)).toBe(false);
  });

  it('skips expired tokens, exact to the day', async () => {
    const { grantOf } = await ground();
    const yearsAgo = (years: number, ms: number) => {
      const date = new Date(Date.now() + ms);
      date.setUTCFullYear(date.getUTCFullYear() - years);
      return date.toISOString();
    };
    const rows = [
      grantOf({ instance_name: 'live', issued_at: yearsAgo(3, 60_000) }),
      grantOf({ instance_name: 'over', issued_at: yearsAgo(3, 0) }),
      grantOf({ instance_name: 'long over', issued_at: '2018-02-06T23:59:59Z' }),
      grantOf({ login: some('missing'), issued_at: '2019-01-01T00:00:00Z' }),
    ];
    expect(await counts('grant', rows)).toEqual({ imported: 1, skipped: 3 });
    expect(await counts('grant', rows)).toEqual({ unchanged: 1, skipped: 3 });
  });

  it('writes consistent rows and events', async () => {
    expect(troublesIn((await doctor(variables, '--invariants')).findings)).toEqual({});
  });
});
