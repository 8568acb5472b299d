import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { doctor } from '../processes/findings.ts';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { fileIn } from '../support/process/folder.ts';
import { clientOf, type Kind, type Row, some, useImports } from './imports.ts';

const {
  server,
  folder,
  variables,
  resource,
  assent,
  json,
  fileOf,
  imports,
  counts,
  isActive,
  expectConsistent,
} = await useImports();

const BCRYPT = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const OTHER = `${BCRYPT.slice(0, -1)}2`;

/** Each line of an import with its field and the reason why it is bad; null for a good or an empty one. */
type Cases = readonly (readonly [row: Row | string, problem: string | RegExp | null])[];

/** Expects these problems and no others. @returns the report, and the `--bad` file, which has all of them */
async function expectProblems(kind: Kind, cases: Cases, more = '') {
  const file = join(folder, some('bad'));
  const rows = cases.map(([row]) => row);
  const report = await imports(kind, rows, `${more} --bad ${file}`);
  const bad = linesIn(file).filter(({ forced }) => !forced);
  expect(bad.slice(0, 20)).toEqual(report.bad_lines);
  const expected = cases.flatMap(([, problem], index) => {
    const said = typeof problem === 'string' ? problem : expect.stringMatching(problem ?? '');
    return problem === null ? [] : [[index + 1, said]];
  });
  expect(bad.map(({ line, field, reason }) => [line, `${field}: ${reason}`])).toEqual(expected);
  return { ...report, rows, file };
}

function linesIn(file: string): Row[] {
  const written = readFileSync(file, 'utf8').trimEnd().split('\n');
  return written.map((line) => JSON.parse(line));
}

const takenWithAnother = (field: string) => `login: is taken by a user with another ${field}`;
const TAKEN_ID = 'external_id: is taken by another user';
const UNSTORABLE = 'has a character that the database can’t store';
const USER = { name: 'Anna Moved', password_hash: BCRYPT };
const userOf = (more: Row = {}): Row & { login: string } => ({ login: some('u'), ...USER, ...more });
const sql = async (text: string, ...values: unknown[]) =>
  (await server.database.pool.query<Row>(text, values)).rows;
const trailOf = (column: string, id: unknown) =>
  sql(`select kind, operator, detail from audit_events where ${column} = $1 order by at`, id);

const HOUR = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

async function ground() {
  const [user, client] = [userOf({ external_id: some('x') }), clientOf()];
  expect(await counts('user', [user])).toEqual({ imported: 1 });
  expect(await counts('client', [client])).toEqual({ imported: 1 });
  const grantOf = (more: Row = {}) => ({
    ...{ login: user.login, client_id: client.client_id, scope: 'account-info' },
    ...{ token: randomUUID(), issued_at: ago(HOUR), ...more },
  });
  const { user_id: userId } = await json(`user show ${user.login}`);
  return { user, client, grantOf, userId };
}

describe('assent user import', () => {
  it('writes users with all their fields, and an event each', async () => {
    const row = userOf({
      external_id: some('x'),
      payment_password_hash: `{bcrypt}${OTHER}`,
      status: 'blocked',
      created_at: '2015-03-04T05:06:07+02:00',
    });
    expect(await counts('user', [row, userOf({ password_hash: null })])).toEqual({ imported: 2 });
    const [user] = await sql('select * from users where login = $1', row.login);
    expect(user).toMatchObject({
      ...{ name: row.name, external_id: row.external_id, status: 'blocked', password_hash: BCRYPT },
      ...{ payment_password_hash: OTHER, created_at: new Date('2015-03-04T03:06:07Z') },
    });
    const digest = expect.stringMatching(/^[0-9a-f]{16}$/);
    const detail = { password_hash: digest, payment_password_hash: digest };
    expect(await trailOf('user_id', user?.user_id)).toEqual([
      { kind: 'user_imported', operator: 'mover', detail },
    ]);
  });

  it('reports number, field and reason of each bad line, the first ones in its output, and imports the others', async () => {
    const [taken, external] = [userOf({ external_id: some('x') }), some('y')];
    const good = userOf();
    await imports('user', [taken]);
    const unknown = '(unreadable): is not a field of this import';
    const { rows, file, bad_lines, imported } = await expectProblems('user', [
      [userOf({ external_id: external }), null],
      [good, null],
      ['{', 'null: is not JSON in UTF-8'],
      ['[]', 'null: must be a JSON object'],
      ['"text"', 'null: must be a JSON object'],
      ['', null],
      ['   ', null],
      ...['emailVerified', 'redirect_uris', 'user-name'].map(
        (key) => [{ ...userOf(), [key]: 1 }, `${key}: is not a field of this import`] as const,
      ),
      ...['anna_petrova', 'kXhzQmWvBtRpLdNc', 'annapetrova', BCRYPT].map(
        (key) => [{ ...userOf(), [key]: 1 }, unknown] as const,
      ),
      [`{"__proto__":{},${JSON.stringify(userOf()).slice(1)}`, unknown],
      [JSON.stringify(userOf()).replace('{', '{"login":"anna",'), 'null: has a field twice'],
      [userOf({ name: 'A "name": B' }), null],
      [{ name: 'No Login' }, 'login: is missing'],
      [userOf({ login: 7 }), 'login: must be a string'],
      [userOf({ name: 'a\u0000b' }), `name: ${UNSTORABLE}`],
      [userOf({ password_hash: `${BCRYPT}!` }), 'password_hash: its form is unknown, or it is truncated'],
      [userOf({ payment_password_hash: '$2b$15$'.padEnd(60, 'a') }), /^payment_password_hash: it/],
      [
        userOf({ password_hash: `pbkdf2_sha256$1$a\u0000b$${'A'.repeat(43)}` }),
        `password_hash: ${UNSTORABLE}`,
      ],
      [userOf({ external_id: 'with\ttab' }), /^external_id: the external id must have /],
      [userOf({ status: 'gone' }), 'status: is neither active nor blocked'],
      [userOf({ created_at: '2015-03-04T05:06:07' }), /^created_at: must be a time with a time zone, such/],
      [userOf({ created_at: ago(-HOUR) }), 'created_at: is in the future'],
      [userOf({ created_at: '0001-01-01T00:00:00Z' }), 'created_at: is before 1970'],
      [{ ...good, name: 'Another Anna' }, takenWithAnother('name')],
      [{ ...taken, login: taken.login.toUpperCase(), password_hash: OTHER }, takenWithAnother('password')],
      [{ ...taken, external_id: undefined }, takenWithAnother('external_id')],
      [userOf({ external_id: taken.external_id }), TAKEN_ID],
      [userOf({ external_id: external }), TAKEN_ID],
      [JSON.stringify(userOf()).padEnd(65_537), 'null: is longer than 64 KB'],
    ]);
    expect([imported, bad_lines.length]).toEqual([3, 20]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(BCRYPT.slice(7));
    const { code, stderr } = await assent(`user import ${fileOf(rows)}`);
    const end = 'and 9 more bad lines\nlines: 32, imported: 0, unchanged: 3, skipped: 0, bad: 29\n';
    expect([code, stderr]).toEqual([1, expect.stringContaining(end)]);
  });

  it('leaves imported users unchanged, even after a sign-in, and refuses logins of other users', async () => {
    const [moved, native] = [userOf(), await server.createUser({ name: USER.name })];
    const twice = [moved, { ...moved }];
    expect(await counts('user', twice)).toEqual({ imported: 1, unchanged: 1 });
    const renewed = `update users set password_hash = (select password_hash from users where user_id = $1) where login = $2`;
    await sql(renewed, native.userId, moved.login);
    expect(await counts('user', twice)).toEqual({ unchanged: 2 });
    await expectProblems('user', [
      [{ ...moved, login: native.login }, takenWithAnother('password')],
      [{ ...moved, payment_password_hash: OTHER }, takenWithAnother('password')],
    ]);
  });

  it('accepts CRLF, a BOM or a missing final newline, and refuses encodings but UTF-8', async () => {
    const [first, second, third] = [userOf(), userOf(), userOf({ name: 'Ägir' })].map((row) =>
      JSON.stringify(row),
    );
    const latin1 = Buffer.from(`${third}\n`, 'latin1');
    const bytes = [Buffer.from(`\ufeff${first}\r\n\r\n`), latin1, Buffer.from(`${second}`)];
    const file = fileIn(folder, 'users.ndjson', Buffer.concat(bytes));
    const { code, stdout, stderr } = await assent(`user import ${file}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'line 3: is not JSON in UTF-8\nlines: 3, imported: 2, unchanged: 0, skipped: 0, bad: 1\n',
    );
  });

  it('refuses a file that is one JSON array, with a remedy', async () => {
    const row = userOf();
    for (const text of [`\ufeff\n [${JSON.stringify(row)}]`, `[\n${JSON.stringify(row)}\n]`])
      expect(await assent(`user import ${fileOf([text])}`)).toMatchObject({
        ...{ code: 1, stdout: '' },
        stderr: 'the file is a JSON array: convert it to one JSON object per line with jq -c ".[]"\n',
      });
    expect(await sql('select from users where login = $1', row.login)).toEqual([]);
  });

  it('refuses the same hash for both passwords, also in different notations', async () => {
    const hashes = [BCRYPT, `{bcrypt}${BCRYPT.replace('$2b', '$2a')}`];
    const cases = hashes.map((hash) => [userOf({ payment_password_hash: hash }), /^payment_pass/] as const);
    for (const more of ['', '--force']) await expectProblems('user', cases, more);
  });

  it('accepts a hash that is slow to check only with --force, and reports its line', async () => {
    const row = userOf({ password_hash: BCRYPT.replace('$10$', '$13$') });
    const refused = 'password_hash: is slow to check: pass `force` to accept that';
    await expectProblems('user', [[row, refused]]);
    const forced_lines = [{ line: 2, field: 'password_hash' }];
    const forced = await imports('user', [userOf(), row], '--force');
    expect(forced).toMatchObject({ imported: 2, bad: 0, forced: 1, forced_lines });
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
    const third = [taken, TAKEN_ID] as const;
    const { imported } = await expectProblems('user', [...rows.map((row) => [row, null] as const), third]);
    expect(imported).toBe(2);
    expect(await sessions()).toEqual([]);
    for (const { login, external_id } of rows) {
      const shown = await json(`user show ${login}`);
      expect(shown).toMatchObject({ external_id });
      const trail = await trailOf('user_id', shown.user_id);
      expect(trail.filter(({ kind }) => kind === 'user_updated')).toEqual([
        { kind: 'user_updated', operator: 'mover', detail: { fields: ['external_id'] } },
      ]);
    }
    const wrong = { ...other, external_id: some('x'), name: 'Another' };
    await expectProblems('user', [[wrong, takenWithAnother('name')]]);
  });

  it('skips logins and external_ids of deleted users, which the trail doesn’t have in plain text', async () => {
    const [one, other, never] = [userOf({ external_id: some('x') }), userOf(), userOf()];
    await imports('user', [one, other]);
    for (const { login } of [one, other]) await json(`user delete ${login} --yes`);
    const byLogin = { ...one, external_id: undefined, login: one.login.toUpperCase() };
    const similar = { ...never, login: other.login.replace('u-', 'x-') };
    const rows = [{ ...one, login: some('renamed') }, byLogin, other, never, similar];
    expect(await counts('user', rows)).toEqual({ imported: 2, skipped: 3 });
    const events = await sql(`select detail::text from audit_events where kind = 'user_deleted'`);
    for (const { detail } of events)
      for (const name of [one.login, one.external_id, other.login]) expect(detail).not.toContain(name);
  });

  it('skips former logins of existing and deleted users, and leaves a renamed user unchanged', async () => {
    const [there, gone] = [userOf({ external_id: some('x') }), userOf({ external_id: some('x') })];
    await imports('user', [there, gone]);
    for (const { login } of [there, gone])
      await json(`user update ${login} --login ${login}-new --external-id ${login}-id`);
    expect(await counts('user', [there, gone])).toEqual({ skipped: 2 });
    await json(`user delete ${gone.login}-new --yes`);
    expect(await counts('user', [there, gone])).toEqual({ skipped: 2 });
    const back = `--login ${there.login} --external-id ${there.external_id} --name Renamed`;
    await json(`user update ${there.login}-new ${back}`);
    expect(await counts('user', [there])).toEqual({ unchanged: 1 });
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
});

describe('assent client import', () => {
  it('keeps client_id and secret, with which the application gets tokens', async () => {
    const secret = some('a secret of another service');
    const settings = { rights: ['account-info'], most: '30,5000', site: 'https://old.example' };
    const row = clientOf({ secret, ...settings, reviewed: true });
    const digest = { ...clientOf(), secret_sha256: hexOf(sha256(secret)).toUpperCase() };
    const open = clientOf();
    expect(await counts('client', [row, digest, open])).toEqual({ imported: 3 });
    expect(await counts('client', [row, digest, open])).toEqual({ unchanged: 3 });
    expect(await json(`client show ${row.client_id}`)).toMatchObject({
      ...{ name: 'Old Shop', verified: true, allowed_rights: ['account-info'], site: 'https://old.example' },
      ...{ most: { days: 30, sum: '5000' }, reviewed: true, status: 'active', user_limits: false },
    });
    const [{ secret_id } = {}] = await json<Row[]>(`client secret list ${row.client_id}`);
    const detail = expect.objectContaining({ verified: true, secret_id });
    expect(await trailOf('client_id', row.client_id)).toEqual([
      { kind: 'client_imported', operator: 'mover', detail },
    ]);
    const user = await server.createUser();
    for (const { client_id } of [row, digest]) {
      const client = { clientId: client_id, clientSecret: secret, redirectUri: row.redirect_uri };
      const token = await obtainToken(new Agent(server.baseUrl), client, user, { scope: 'account-info' });
      expect(await isActive(token)).toBe(true);
    }
  });

  it('applies the field oauth21, and accepts unsafe redirect URIs, which assent doctor counts', async () => {
    const held = clientOf({ oauth21: true, redirect_uri: 'http://127.0.0.1/back' });
    const unsafe = ['http://old.example/', 'intent:x', 'market://x', 'android-app:x'].map((redirect_uri) =>
      clientOf({ redirect_uri, oauth21: false }),
    );
    const counted = async () => {
      const { findings } = await doctor({ ...variables, BASE_URL: server.baseUrl });
      const found = findings.find(({ check }) => check === 'redirects');
      return { ...found, count: Number(/^(\d+)/.exec(found?.text ?? '')?.[1]) };
    };
    expect(await counted()).toMatchObject({ level: 'ok', count: 0 });
    expect(await counts('client', [held, ...unsafe])).toEqual({ imported: 5 });
    expect(await counts('client', [held, ...unsafe])).toEqual({ unchanged: 5 });
    const text = expect.stringMatching(/; for example c-[0-9a-f]{8}, c-/);
    expect(await counted()).toMatchObject({ level: 'advice', count: 4, text });
    const other = 'client_id: is taken by an application with other settings';
    await expectProblems('client', [[{ ...held, oauth21: undefined }, other]]);
    expect(await json(`client show ${held.client_id}`)).toMatchObject({ oauth21: true });
    expect(await json(`client show ${unsafe[0]?.client_id}`)).toMatchObject({ oauth21: false });
    expect(await trailOf('client_id', held.client_id)).toMatchObject([{ detail: { oauth21: true } }]);
    for (const { client_id } of unsafe) await json(`client delete ${client_id} --yes`);
  });

  it('refuses invalid applications, and ids that are taken', async () => {
    const secret = () => some('a secret of another');
    const taken = clientOf({ secret: secret() });
    await expectProblems('client', [
      [taken, null],
      [{ ...taken, secret: secret() }, /^client_id: .*secret$/],
      [{ ...taken, secret: undefined }, /^client_id: .*secret$/],
      [{ ...taken, name: 'Another' }, /^client_id: .*settings$/],
      [clientOf({ client_id: 'a b' }), /^client_id: the client id must have/],
      [clientOf({ redirect_uri: 'javascript:x' }), /^redirect_uri: /],
      [clientOf({ secret: 'short' }), /^secret: the secret must have 16 to 256/],
      [clientOf({ secret_sha256: 'abc' }), 'secret_sha256: is not a SHA-256 in hex'],
      [clientOf({ secret_sha256: hexOf(sha256('')) }), /^secret_sha256: /],
      [clientOf({ secret: secret(), secret_sha256: '0'.repeat(64) }), /^null: has both/],
      [clientOf({ rights: ['all'] }), /^rights: /],
      [clientOf({ rights: 'account-info' }), 'rights: must be a list of rights'],
      [clientOf({ most: '0,0' }), 'most: must be days and a sum, such as 30,5000'],
      [clientOf({ site: 'http://x' }), /^site: the site must be/],
      [clientOf({ reviewed: 'yes' }), 'reviewed: is neither true nor false'],
      ...[1, 'true', null].map(
        (oauth21) => [clientOf({ oauth21 }), 'oauth21: is neither true nor false'] as const,
      ),
    ]);
  });

  it('refuses names that resemble one in the database or the file, and reports those accepted by --force', async () => {
    const name = `Kiosk ${some('n').replaceAll(/[0-9]/g, 'k')}`;
    const [there, first] = [clientOf({ name }), clientOf({ name: `Other ${name}` })];
    await imports('client', [there]);
    const twin = `name: looks like that of another application, “${name}”: pass \`force\` to accept it`;
    const cases: Cases = [
      [clientOf({ name }), null],
      [clientOf({ name: name.replace('o', '0'), reviewed: true }), twin],
      [first, null],
      ...[`0ther ${name}`, 'Аssent', 'A55ENT', 'Bank ✔'].map(
        (name) => [clientOf({ name }), /^name: /] as const,
      ),
    ];
    const { imported, bad_lines, rows } = await expectProblems('client', cases);
    expect(imported).toBe(2);
    expect(await counts('client', [there, rows[0] ?? {}, first])).toEqual({ unchanged: 3 });
    const file = join(folder, some('bad'));
    const forced = await imports('client', rows, `--force --bad ${file}`);
    expect(forced).toMatchObject({ imported: 5, unchanged: 2, bad: 0, bad_lines: [], forced: 5 });
    expect(forced.forced_lines).toEqual(bad_lines);
    expect(linesIn(file)).toEqual(bad_lines.map((line) => ({ ...line, forced: true })));
    const { stderr } = await assent(`client import ${fileOf([clientOf({ name: 'Bank ✔' })])} --force`);
    expect(stderr).toMatch(/^line 1, name: .*\(forced\)\nlines: 1, imported: 1, .*forced: 1/);
  });

  it('skips applications that were deleted from Assent, and their tokens', async () => {
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
  it('keeps old tokens valid, plain or as digests, with the user’s login or external_id', async () => {
    const { user, client, grantOf, userId } = await ground();
    const [token, second] = [randomUUID(), randomUUID()];
    const rows = [
      grantOf({ token, scope: 'payment-shop.limit(7,1500)', instance_name: '' }),
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
    const trail = await sql('select kind, scope, instance_name from audit_events where user_id = $1', userId);
    expect(trail).toHaveLength(4);
    expect(trail).toContainEqual({ kind: 'imported', scope: 'account-info', instance_name: 'касса "1"' });
    expect(trail).toContainEqual({ kind: 'imported', scope: rows[0]?.scope, instance_name: null });
  });

  it('refuses scopes that the application may not request, even with --force', async () => {
    const { grantOf } = await ground();
    const rights = ['payment-shop', 'payment-p2p', 'payment.to-account'];
    const bounded = clientOf({ rights, most: '7,2000' });
    await imports('client', [bounded]);
    const of = (scope: string, client_id = bounded.client_id) =>
      grantOf({ client_id, scope, instance_name: some('i') });
    const open = String(grantOf().client_id);
    const first = of('payment-shop.limit(7,2000)');
    const beyond = [
      of('payment-shop.limit(7,2000.01)'),
      of('payment-shop.limit(8,1)'),
      of('payment-shop'),
      of('account-info'),
      of('payment-shop.limit(1,10) payment-shop.limit(1,1000000)', open),
      of('payment-p2p payment.to-account("41")', open),
      of('payment-p2p.limit(1,5) payment-shop.limit(,5)', open),
      of('payment.to-account("a\u202eb")', open),
      of('payment-shop.limit(7,2000).each(500)', open),
      of('payment-shop.limit(7,2000).until(2027-06-30)', open),
      of('payment.to-account("pауpаl@x.example","email")', open),
      of(`payment.to-account("${'1'.repeat(129)}")`, open),
      of(`account-info${' '.repeat(2_500)}`, open),
    ].map((row) => [row, /^scope: /] as const);
    expect((await expectProblems('grant', [[first, null], ...beyond])).imported).toBe(1);
    await expectProblems('grant', [[first, null], ...beyond], '--force');
    await json(`client update ${bounded.client_id} --most 1,1`);
    expect(await counts('grant', [first])).toEqual({ unchanged: 1 });
  });

  it('judges last days as on the day of the token', async () => {
    const { grantOf } = await ground();
    const of = (until: string) =>
      grantOf({
        scope: `payment-shop.limit(7,20).until(${until})`,
        issued_at: '2026-01-31T12:00:00Z',
        instance_name: some('i'),
      });
    const rows = ['2026-01-31', '2029-01-31', '2026-01-30', '2029-02-01'].map(of);
    const setLimits = (limits: string) => sql(`update settings set value = $1 where name = 'limits'`, limits);
    await setLimits('until');
    expect(await imports('grant', rows)).toMatchObject({
      imported: 2,
      bad_lines: [
        { line: 3, field: 'scope', reason: 'payment-shop ended on 2026-01-30, in UTC' },
        { line: 4, field: 'scope', reason: expect.stringContaining('and its token on 2029-01-31') },
      ],
    });
    await setLimits('');
  });

  it('refuses a wrong external_id, or a missing one if the user has one and wasn’t imported', async () => {
    const { user, grantOf } = await ground();
    const other = userOf({ external_id: some('x') });
    await imports('user', [other]);
    const newcomer = some('newcomer');
    const insert = `insert into users (login, login_key, name, external_id) values ($1, $1, 'Anna', $2)`;
    await sql(insert, newcomer, some('sub'));
    const byId = { ...grantOf({ login: undefined, instance_name: 'a' }), external_id: other.external_id };
    const notImported = 'login: belongs to a user with an external_id who was not imported: give both';
    const different = 'login: belongs to a different user than the external_id';
    await expectProblems('grant', [
      [grantOf({ login: newcomer }), notImported],
      [grantOf({ external_id: other.external_id }), different],
      [grantOf({ external_id: user.external_id }), null],
      [byId, null],
    ]);
  });

  it('refuses weak tokens, and tokens that Assent issued, even as digests', async () => {
    const agent = new Agent(server.baseUrl);
    const [user, client] = [await server.createUser(), await server.createClient()];
    const ours = await obtainToken(agent, client, user);
    const named = { login: user.login, client_id: client.clientId, scope: 'account-info', issued_at: ago(1) };
    const { iat = 0 } = (await introspect(server, resource, ours)) as { iat?: number };
    const weak = [
      'k'.repeat(40),
      '12345678'.repeat(5),
      '0123456789'.repeat(3),
      randomBytes(12).toString('hex'),
    ];
    const issued_at = new Date(iat * 1000).toISOString();
    const others = [
      { token_sha256: hexOf(sha256('')) },
      { token_sha256: hexOf(sha256(ours)) },
      { token_sha256: hexOf(sha256(ours)), issued_at, instance_name: 'b' },
    ].map((more) => [{ ...named, ...more }, /^token_sha256: /] as const);
    const all = (problem: RegExp | null): Cases => [
      [{ ...named, token: 'k' }, /^token: /],
      ...weak.map((token) => [{ ...named, token }, problem] as const),
      ...others,
    ];
    await expectProblems('grant', all(/^token: /), '--dry-run');
    await expectProblems('grant', all(null), '--dry-run --force');
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

  it('imports tokens of a blocked user or application, inactive until it is unblocked', async () => {
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

  it('refuses unknown users and applications, tokens of other authorizations, and wrong fields', async () => {
    const { grantOf } = await ground();
    const first = grantOf();
    const ours = `assent_at_${'A'.repeat(64)}`;
    await expectProblems('grant', [
      [first, null],
      [{ ...first, instance_name: 'another' }, 'token: belongs to another authorization'],
      [{ ...first, scope: 'incoming-transfers' }, 'token: exists with another scope or time'],
      [{ ...first, issued_at: ago(2 * HOUR) }, 'token: exists with another scope or time'],
      [grantOf({ login: some('missing') }), 'login: matches no user'],
      [grantOf({ login: undefined, external_id: some('missing') }), 'external_id: matches no user'],
      [grantOf({ client_id: some('missing') }), 'client_id: matches no application'],
      [grantOf({ external_id: 'x' }), 'external_id: matches no user'],
      [grantOf({ login: undefined }), 'null: needs login or external_id, or both'],
      [grantOf({ token: undefined }), 'null: needs either token or token_sha256'],
      [grantOf({ token: ours }), 'token: has the form of Assent’s own tokens'],
      [grantOf({ scope: 'everything()' }), /^scope: expected a string in double quotes/],
      [grantOf({ scope: 'payment("a\u0000b")' }), `scope: ${UNSTORABLE}`],
      [grantOf({ instance_name: 'two  spaces' }), /^instance_name: /],
      [grantOf({ issued_at: ago(-HOUR) }), 'issued_at: is in the future'],
    ]);
  });

  it.each(['in one batch', 'in two batches'])(
    'uses the later of two tokens of one authorization: %s',
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
      const list = 'select revision from grants where user_id = $1 order by instance_name';
      const revisions = await sql(list, userId);
      expect(revisions.map(({ revision }) => revision)).toEqual(when === 'in two batches' ? [1, 2] : [1, 1]);
    },
  );

  it('keeps authorizations that were granted or revoked in Assent in the meantime', async () => {
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
    const form = { client_id: client.clientId, client_secret: client.clientSecret ?? '', token: gone.token };
    expect((await agent.post('/oauth/revoke', form)).status).toBe(200);
    const later = ['replaced', 'native', 'revoked'].map((name) => grantOf(name, 1));
    expect(await counts('grant', [old, gone, ...later])).toEqual({ unchanged: 1, skipped: 4 });
    for (const token of [fresh, native]) expect(await isActive(token)).toBe(true);
    for (const { token } of [old, gone, ...later]) expect(await isActive(token)).toBe(false);
  });

  it('skips tokens that have expired since their issue, exact to the minute', async () => {
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

  it('writes consistent rows and events', expectConsistent);
});
