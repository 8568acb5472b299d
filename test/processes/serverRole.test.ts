import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { press } from '../support/account.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { createRole, ownDatabase, useDatabase } from '../support/postgres/database.ts';
import { copyOfBuild } from '../support/process/builds.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';

// The two roles of docs/operate/database.md: one owns the tables and migrates, the other serves.
const database = await useDatabase();
const here = new URL(database.url).pathname.slice(1);
const BASE_URL = 'http://localhost:3000';
const { name: role, urlOf } = await createRole();
const roleUrl = urlOf(database);
const asOwner = commandsOn({ ...onDatabase(database.url), BASE_URL });
const asServer = commandsOn({ ...onDatabase(roleUrl), BASE_URL });

await asOwner.json(`migrate --server-role ${role}`);
const pool = openDatabase(roleUrl);
afterAll(() => pool.end());
const server = await useServer({ database: { ...database, pool } });

/** Runs SQL as the server's role. @returns its last statement's rows */
async function asRole(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: roleUrl });
  onTestFinished(() => client.end());
  await client.connect();
  return [await client.query(sql)].flat().at(-1)?.rows ?? [];
}

const MAY_NOT = { code: '42501' };

describe('a server role that owns nothing', () => {
  it('can do everything that servers and commands need', async () => {
    const [client, user] = [await server.createClient(), await server.createUser({ login: 'anna' })];
    const { clientId: client_id, clientSecret } = client;
    const agent = new Agent(server.baseUrl);
    const token = await obtainToken(agent, client, user, { scope: 'payment-shop' });
    await obtainToken(agent, client, user, { instance_name: 'second' });
    const given = await agent.post('/oauth/revoke', { token, client_id, client_secret: clientSecret ?? '' });
    expect(given.status).toBe(200);
    await press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
    await obtainToken(agent, client, user, { instance_name: 'third' });
    const { resource_id } = await asServer.json('resource create --name api');
    const { secret_id } = await asServer.json(`resource secret add ${resource_id}`);
    for (const line of [
      'grant list --login anna',
      'audit --login anna',
      `client secret add ${client_id}`,
      `client block ${client_id}`,
      `client update ${client_id} --name "Another Shop"`,
      `client update ${client_id} --logo demo/wallet/logo.svg --site https://shop.example`,
      `client update ${client_id} --no-logo`,
      `client delete ${client_id} --yes`,
      'user block anna',
      'user delete anna --yes',
      `resource secret retire ${resource_id} ${secret_id}`,
      `resource block ${resource_id}`,
      `resource delete ${resource_id} --yes`,
      'migrate --status',
      'migrate',
    ]) {
      const { code, stderr } = await asServer.assent(line);
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
    }
    expect(server.logLines.join()).not.toContain('"level":50');
    const noted = `select kind from audit_events where user_id = $1 and kind in ('revoked_by_operator', 'user_deleted') order by at`;
    const { rows } = await database.pool.query(noted, [user.userId]);
    expect(rows.map(({ kind }) => kind)).toEqual(['revoked_by_operator', 'user_deleted']);
  });

  it('can’t use a temporary table named like the trail to run code as the owner or hide a row [serverRole-1]', async () => {
    await database.pool.query(`grant temporary on database ${here} to ${role}`);
    await database.pool.query(`
      with shop as (insert into clients (client_id, name, redirect_uri, verified) values ('taken', 'n', 'u:', false)
                    returning client_id),
           someone as (insert into users (login, login_key, name, password_hash) values ('taken', 'taken', 'S', '')
                       returning user_id)
      insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)
      select gen_random_uuid(), user_id, client_id, 1, 'account-info', 'u:', sha256(''), 'infinity', now() from shop, someone`);
    const ran = await asRole(`
      create temporary table audit_events (like public.audit_events including defaults);
      create temporary table ran (by name);
      grant insert on audit_events, ran to public;
      create function pg_temp.take() returns trigger language plpgsql as
        'begin insert into pg_temp.ran values (current_user); return new; end';
      create trigger take before insert on pg_temp.audit_events for each row execute function pg_temp.take();
      delete from users where login = 'taken';
      select by from ran`);
    await database.pool.query(`revoke temporary on database ${here} from ${role}`);
    expect(ran).toEqual([]);
    const { rows } = await database.pool.query(`select kind from audit_events where client_id = 'taken'`);
    expect(rows).toEqual([{ kind: 'revoked_by_operator' }]);
  });

  it.each([
    'create table mine (id int)',
    'alter table grants add column mine int',
    'alter table audit_events disable trigger all',
    'drop table throttles',
    'truncate sessions',
    'create schema mine',
    'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
    'create temporary table audit_events (like public.audit_events)',
    'update audit_events set user_id = null',
    'delete from audit_events',
    'delete from audit_events_rest',
    'insert into audit_events_rest (kind) values (1)',
    `insert into audit_events (at, kind) values ('1700-01-01', 'approved')`,
    `insert into audit_events values ('1700-01-01', 'approved')`,
    `insert into clients (client_id, name, redirect_uri, verified, created_at) values ('x', 'x', 'x', false, '1700-01-01')`,
    `update users set created_at = '1700-01-01'`,
    `update sessions set created_at = 'infinity'`,
    'delete from grants',
    'delete from client_secrets',
    'delete from resource_secrets',
    'insert into schema_migrations (version, name) values (99, 1)',
  ])('can’t: %s [serverRole-2]', async (statement) => {
    await expect(asRole(statement)).rejects.toMatchObject(MAY_NOT);
  });

  it('can only read and append to the audit trail, even without triggers', async () => {
    const { rows } = await database.pool.query(
      `select distinct privilege_type || case column_name when 'at' then ' of at' else '' end as right
         from information_schema.role_column_grants
        where grantee = $1 and table_name like 'audit_events%' order by 1`,
      [role],
    );
    expect(rows.map(({ right }) => right)).toEqual(['INSERT', 'SELECT', 'SELECT of at']);
  });

  it('can’t serve on an older schema: the server prints the remedy and ends', async () => {
    const later = copyOfBuild('alter table clients add column made integer');
    onTestFinished(() => later.remove());
    const starting = spawnServer(onDatabase(roleUrl), 'ready', later.executable);
    await expect(starting).rejects.toThrow('run "assent migrate" as the owner of the tables');
  });

  it('can’t import users or prune the audit trail, unlike the owner', async () => {
    for (const line of ['user import', 'audit prune --yes'])
      expect(await asServer.refused(line, 1)).toMatch(
        /only the owner of the tables may .+: set DATABASE_URL to/,
      );
    expect((await asOwner.assent('audit prune --yes')).code).toBe(0);
  });
});

describe('assent migrate --server-role', () => {
  const grant = (name: string) => asOwner.assent(`migrate --server-role "${name}"`);

  it('refuses a missing role, and prints how to create it', async () => {
    const stderr =
      'there is no role robert; drop table grants: create it, and set its password with \\password in psql\n' +
      '  create role "robert; drop table grants" login;\n';
    expect(await grant('robert; drop table grants')).toMatchObject({ code: 1, stderr });
  });

  it('refuses a role with more privileges than a server needs, and prints how to revoke them [serverRole-3]', async () => {
    const { name: mighty } = await createRole();
    const { rows } = await database.pool.query('select quote_ident(current_user) as owner');
    const { owner } = rows[0];
    const attributes = ['superuser', 'createrole', 'createdb', 'replication', 'bypassrls'];
    const places = ['schema public', `database ${here}`].map((place) => `${place} from ${mighty}`);
    places.push('schema public from public');
    const rights = ['DELETE on grants', 'TRUNCATE on audit_events_rest', 'INSERT (at) on audit_events'];
    for (const [give = '', what, take = ''] of [
      ...attributes.map((attribute) => [
        `alter role ${mighty} ${attribute}`,
        `it has the attribute ${attribute.toUpperCase()}`,
        `alter role ${mighty} no${attribute}`,
      ]),
      ...['pg_execute_server_program', owner].map((group) => [
        `grant ${group} to ${mighty}`,
        `it is a member of ${group}`,
        `revoke ${group} from ${mighty}`,
      ]),
      ...places.map((place) => [
        `grant create on ${place.replace('from', 'to')}`,
        `it may create in the ${place.replace(/ from .*/, '')}`,
        `revoke create on ${place}`,
      ]),
      [
        `create table hers (id int); alter table hers owner to ${mighty}`,
        'it owns table hers',
        `reassign owned by ${mighty} to ${owner}`,
      ],
      ...rights.map((right) => [
        `grant ${right} to public`,
        `every role has ${right}`,
        `revoke ${right} from public`,
      ]),
    ]) {
      await database.pool.query(give);
      const { code, stderr } = await grant(mighty);
      const sentence = `${mighty} has more privileges than a server needs; this SQL revokes them:\n  -- ${what}\n  ${take};\n`;
      expect({ give, code, stderr }).toEqual({ give, code: 1, stderr: expect.stringContaining(sentence) });
      await database.pool.query(take);
    }
    await database.pool.query(`
      create schema others; create table others.notes (id int); grant select on others.notes to public;
      grant create on schema others to ${mighty};
      alter role ${mighty} createdb;
      grant trigger on grants to public`);
    const { stderr } = await grant(mighty);
    const [, ...lines] = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    await database.pool.query(lines.join('\n')); // all at once, unchanged
    expect(await grant(mighty)).toMatchObject({ code: 0 });
  });

  it('revokes TEMPORARY from every role, or prints how if another role owns the database', async () => {
    const theirs = await ownDatabase(`template template0 encoding 'UTF8' locale 'C'`);
    const [owner, serving] = [await createRole(), await createRole()];
    await theirs.pool.query(`grant create on schema public to ${owner.name}`);
    const { assent, refused } = commandsOn(onDatabase(owner.urlOf(theirs)));
    const migrate = `migrate --server-role ${serving.name}`;
    const stderr = await refused(migrate, 1);
    const [, ...lines] = stderr.slice(stderr.indexOf('has more privileges than a server needs')).split('\n');
    expect(lines[0]).toMatch(/^ {2}-- it may create temporary tables in the database /);
    await theirs.pool.query(lines.join('\n'));
    expect(await assent(migrate)).toMatchObject({ code: 0 });
    const asked = async () => (await asServer.assent('doctor')).stdout;
    await database.pool.query(`grant temporary on database ${here} to public`);
    expect(await asked()).toMatch(
      /^advice +the role \S+ has more privileges .+: it may create temporary tables in the/m,
    );
    expect((await grant(role)).code).toBe(0);
    expect(await asked()).toMatch(/^ok +the role /m);
  });

  it('revokes excess privileges of the role', async () => {
    await database.pool.query(`grant all on all tables in schema public to ${role}`);
    await asRole('delete from grants where false');
    expect((await asServer.assent('doctor')).stdout).toMatch(
      /^advice +the role \S+ has more privileges than a server needs: .*it has INSERT \(at\) on audit_events,.*it has DELETE on grants.*: run assent migrate --server-role/m,
    );
    expect((await grant(role)).code).toBe(0);
    await expect(asRole('delete from grants where false')).rejects.toMatchObject(MAY_NOT);
  });
});
