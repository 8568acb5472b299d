import { readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { listMigrations, schemaState } from '../../src/store/schema/schemaState.ts';
import { findToken } from '../../src/store/token/introspection.ts';
import { ownDatabase, useDatabase } from '../support/database.ts';
import { waitForLocks, whileHeld } from '../support/locks.ts';
import { withClient } from '../support/postgres.ts';
import { beginAgain, describeSchema } from '../support/schema.ts';

const database = await useDatabase();

const SCHEMA = readFileSync(new URL('../../migrations/schema.txt', import.meta.url), 'utf8');

/** Builds before this one don't ask what a newer schema serves. */
const FIRST_THAT_SAYS = 12;

describe('migrations', () => {
  it('are applied once by ten servers that start together', async () => {
    const empty = await ownDatabase();
    await empty.pool.query('drop schema public cascade; create schema public');
    const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(empty.pool)));
    // One of them may have applied the first and another the second.
    const inOrder = applied.flat().toSorted((one, other) => one.version - other.version);
    expect(inOrder).toEqual(await listMigrations());
  });

  it.each([
    ['serves this build', 0],
    ['serves only builds after it', 1],
    ['does not say which builds it serves', null],
  ])('leave a newer schema as it is, and know whether it does: one that %s', async (_, after) => {
    const newer = await ownDatabase();
    const { known } = await schemaState(newer.pool);
    await newer.pool.query(
      `insert into schema_migrations (version, name, oldest_build) values ($1, 'later', 1), ($1 + 1, 'latest', $2)`,
      [known + 1, after === null ? null : known + after],
    );
    const serves = after === 0;
    expect(await schemaState(newer.pool)).toMatchObject({ version: known + 2, known, serves });
    if (serves) expect(await migrate(newer.pool)).toEqual([]);
    else await expect(migrate(newer.pool)).rejects.toThrow(/which it does not serve: run a newer build/);
  });

  it('say which builds they serve, from the one on that asks', async () => {
    const asked = (await listMigrations()).slice(FIRST_THAT_SAYS - 1);
    const { rows } = await database.pool.query(
      'select version, name, oldest_build as oldest from schema_migrations where version >= $1 order by version',
      [FIRST_THAT_SAYS],
    );
    expect(rows.map(({ version, name }) => ({ version, name }))).toEqual(asked);
    for (const { name, version, oldest } of rows) {
      expect(oldest, `${name} begins with "-- Serves builds from schema version N on."`).not.toBeNull();
      expect(oldest).toBeLessThanOrEqual(version);
    }
  });

  it('don’t stop requests behind them while they wait for a lock, and go on when it is free', async () => {
    const older = await ownDatabase();
    await beginAgain(older.pool, 8);
    // As a long report does; 0009 alters that table.
    const report = 'lock table clients in access share mode';
    const [migrated] = await whileHeld(older.pool, report, [], async () => {
      const migrating = migrate(older.pool);
      for (const turn of [1, 2]) {
        await waitForLocks(older.pool, 1);
        const { rows } = await older.pool.query('select count(*)::int from clients'); // queues behind it
        expect({ turn, rows }).toEqual({ turn, rows: [{ count: 0 }] });
      }
      return [migrating];
    });
    expect((await migrated)?.map(({ version }) => version)).toContain(9);
  });

  it('refuse a database that can’t hold every letter', async () => {
    const other = await ownDatabase(`encoding 'LATIN1' locale_provider libc locale 'C' template template0`);
    await expect(migrate(other.pool)).rejects.toThrow(/LATIN1.*UTF8/);
  });

  it('keep the secrets that resource servers have, and can go on from any version', async () => {
    const older = await ownDatabase();
    await beginAgain(older.pool, 4);
    await older.pool.query(
      `insert into resources (resource_id, name, secret_hash) values ('one', 'API', sha256('secret'))`,
    );
    await migrate(older.pool);
    const question = { resourceId: 'one', grantId: null, tokenHash: sha256('token') };
    const secrets = [sha256('secret'), sha256('another')];
    const answers = await Promise.all(
      secrets.map((secretHash) => findToken(older.pool, { ...question, secretHash })),
    );
    expect(answers.map(({ authenticated }) => authenticated)).toEqual([true, false]);
  });

  it('take over the indexes of the audit trail that operators made before', async () => {
    const older = await ownDatabase();
    await beginAgain(older.pool, 9);
    await older.pool.query(
      'create table audit_events_2020_02 partition of audit_events for values from ($$2020-02-01$$) to ($$2020-03-01$$)',
    );
    const { rows } = await older.pool.query<{ format: string }>(documentedIndexes());
    await withClient(older.url, async (client) => {
      for (const { format } of rows) await client.query(format);
    });
    await migrate(older.pool);
    const made = await older.pool.query<{ name: string }>(
      `select relname as name from pg_inherits join pg_class on oid = inhrelid
        where inhparent in ('audit_events_at_idx'::regclass, 'audit_events_alerts_idx'::regclass)`,
    );
    const names = ['2020_02_at_idx', '2020_02_alerts_idx', 'rest_at_idx', 'rest_alerts_idx'].map(
      (name) => `audit_events_${name}`,
    );
    expect(made.rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    // Those of warnings, if offered still, were taken over by an earlier migration, and ended with it.
    const left = await older.pool.query(`select from pg_class where relname like '%warnings_idx'`);
    expect(left.rowCount).toBe(0);
    const offered = rows.map(({ format }) => / (audit_events_\w+_idx) on /.exec(format)?.[1]);
    expect(offered).toEqual(expect.arrayContaining(names));
  });

  it('take over the indexes of identifiers that operators made before, as they are', async () => {
    const older = await ownDatabase();
    await beginAgain(older.pool, 20);
    await withClient(older.url, async (client) => {
      for (const statement of documentedStatements('_bytes')) await client.query(statement);
    });
    const files = async (...indexes: string[]) => {
      const text = `select array_agg(relfilenode order by relname) as files from pg_class where relname = any ($1)`;
      return (await older.pool.query<{ files: number[] }>(text, [indexes])).rows[0]?.files;
    };
    const made = await files('grants_client_id_bytes', 'users_login_key_bytes');
    await migrate(older.pool);
    expect(made).toHaveLength(2);
    expect(await files('grants_client_id_idx', 'users_login_key_key')).toEqual(made);
    expect(await describeSchema(older.pool)).toBe(SCHEMA);
  });

  it('end authorizations of an instance with an empty name, by an event, and leave the others', async () => {
    const older = await ownDatabase();
    await beginAgain(older.pool, 20);
    await older.pool.query(`
      insert into users (login, login_key, name) values ('anna', 'anna', 'Anna');
      insert into clients (client_id, name, redirect_uri, verified) values ('shop', 'Shop', 'https://shop.example/', true);
      insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash,
                          code_expires_at, confirmed_at, token_hash, token_issued_at)
      select gen_random_uuid(), user_id, 'shop', instance, 1, 'account-info', 'https://shop.example/', sha256('code'), now(), now(), sha256('t'), now()
        from users, unnest(array['', 'till', null]) as instances (instance)`);
    await migrate(older.pool);
    const left = await older.pool.query('select instance_name from grants order by 1');
    expect(left.rows).toEqual([{ instance_name: 'till' }, { instance_name: null }]);
    const trail = await older.pool.query('select kind, instance_name, operator from audit_events');
    const event = { kind: 'revoked_by_operator', instance_name: '', operator: 'migration 21' };
    expect(trail.rows).toEqual([event]);
    await expect(older.pool.query(`update grants set instance_name = ''`)).rejects.toThrow(
      /instance_name_check/,
    );
  });

  it('bind the names in every function of ours, whatever a session looks through first', async () => {
    const elsewhere = await ownDatabase();
    await elsewhere.pool.query(`drop schema public cascade; create schema "Our own"`);
    await elsewhere.pool.query(`alter database ${quoted(elsewhere.url)} set search_path = "Our own"`);
    for (const [url, schema] of [
      [database.url, 'public'],
      [elsewhere.url, '"Our own"'],
    ] as const) {
      const pool = openDatabase(url);
      await migrate(pool);
      const { rows } = await pool.query<{ name: string; settings: string[] | null; isParsed: boolean }>(
        `select proname as name, proconfig as settings, prosqlbody is not null as "isParsed"
           from pg_proc where pronamespace = $1::regnamespace order by 1`,
        [schema],
      );
      expect(rows.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['is_live', 'note_deleted_grants']),
      );
      const path = `search_path=pg_catalog, ${schema}, pg_temp`;
      expect(rows.filter(({ settings, isParsed }) => !isParsed && !settings?.includes(path))).toEqual([]);
      expect(await describeSchema(pool)).toBe(SCHEMA);
      await pool.end();
    }
  });

  it('index no text in an order that another version of ICU or of the C library changes, save kinds of events', async () => {
    const { rows } = await database.pool.query<{ place: string }>(`
      select distinct format('%s.%s', regexp_replace(c.relname, '_(\\d{4}_\\d\\d|rest)$', ''), pg_get_indexdef(indexrelid, n, true)) as place
        from pg_index join pg_class c on c.oid = indrelid, generate_series(1, indnatts) n
       where relnamespace = 'public'::regnamespace and indcollation[n - 1] not in (0, '"C"'::regcollation)`);
    expect(rows).toEqual([{ place: 'audit_events.kind' }]);
  });

  it('make this schema', async () => {
    expect((await schemaState(database.pool)).version).toBe((await listMigrations()).length);
    await expect(await describeSchema(database.pool)).toMatchFileSnapshot('../../migrations/schema.txt');
  });
});

const quoted = (url: string) => pg.escapeIdentifier(new URL(url).pathname.slice(1));

/** What the operator's guide has psql run: the statements of a block that names this. */
function documentedStatements(named: string): string[] {
  const guide = readFileSync(new URL('../../docs/operate/upgrade.md', import.meta.url), 'utf8');
  const blocks = Array.from(guide.matchAll(/^```sql\n([^`]*?)\n```$/gm), ([, block = '']) => block);
  return (
    blocks
      .find((block) => block.includes(named))
      ?.split(/;\n?/)
      .filter(Boolean) ?? []
  );
}

/** What the operator's guide has psql run: a query that gives statements. */
function documentedIndexes(): string {
  const guide = readFileSync(new URL('../../docs/operate/upgrade.md', import.meta.url), 'utf8');
  const [, query] = /^```sql\n(select format[^`]*?) \\gexec$/m.exec(guide) ?? [];
  if (query === undefined) throw new Error('the guide has no such query');
  return query;
}
