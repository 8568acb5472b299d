import { readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase, transaction } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { listMigrations, schemaState } from '../../src/store/schema/schemaState.ts';
import { ownDatabase, useDatabase } from '../support/postgres/database.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { copyOfBuild } from '../support/process/builds.ts';
import { onDatabase, spawnAssent } from '../support/process/process.ts';

const database = await useDatabase();

const SCHEMA = readFileSync(new URL('schema.txt', import.meta.url), 'utf8');

// Each line begins with the name of its table, sequence or function. PostgreSQL chose the names of indexes of the trail's
// partitions, which are left out.
const LINES = `
with ours as (
  select c.*, relispartition and relname ~ '^audit_events_' as is_part from pg_class c
   where relnamespace = $1::regnamespace and relkind in ('r', 'p')
), parts (name, part, n, line) as (
  select relname, 1, attnum::bigint,
         format('%s.%s %s%s%s%s%s', relname, attname, format_type(atttypid, atttypmod),
                (select format(' collate %I', collname) from pg_collation k where k.oid = attcollation and collname <> 'default'),
                case when attnotnull then ' not null' else '' end,
                coalesce(' default ' || pg_get_expr(adbin, adrelid), ''),
                case attidentity when 'a' then ' generated always as identity' else attidentity::text end)
    from ours join pg_attribute a on attrelid = ours.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on (adrelid, adnum) = (ours.oid, attnum)
  union all
  select relname, 2, 0, relname || ' ' || pg_get_constraintdef(k.oid)
    from ours join pg_constraint k on conrelid = ours.oid where contype not in ('n', 't')
  union all
  select relname, 3, 0, relname || ' ' || case when is_part then regexp_replace(definition, ' INDEX \\S+ ON ', ' INDEX ON ') else definition end
           || case when indisvalid and indisready then '' else ' invalid' end
    from ours join pg_index on indrelid = ours.oid, pg_get_indexdef(indexrelid) as definition
  union all
  select relname, 4, 0, relname || ' ' || pg_get_triggerdef(t.oid) || case tgenabled when 'O' then '' else ' enabled: ' || tgenabled::text end
    from ours join pg_trigger t on tgrelid = ours.oid where not tgisinternal
  union all
  select distinct relname, 4, 0, format('%s does not enforce %s', relname, pg_get_constraintdef(tgconstraint))
    from ours join pg_trigger t on tgrelid = ours.oid where tgisinternal and tgenabled <> 'O'
  union all
  select relname, 5, 0, relname || ' ' || pg_get_ruledef(r.oid) from ours join pg_rewrite r on ev_class = ours.oid
  union all
  select relname, 6, 0, relname || ' ' || what
    from ours, lateral (values
      (relpersistence <> 'p', 'is not logged'),
      (relrowsecurity, 'has row level security'),
      (relkind = 'r' and exists (select from pg_inherits where inhparent = ours.oid), 'is inherited'),
      (reloptions is not null, 'with ' || array_to_string(array(select unnest(reloptions) order by 1), ', '))) as said (holds, what)
   where holds
  union all
  select relname, 7, 0, format('%s sequence from %s to %s by %s%s', relname, seqmin, seqmax, seqincrement, case when seqcycle then ', again and again' else '' end)
    from pg_sequence join pg_class on oid = seqrelid where relnamespace = $1::regnamespace
  union all
  select proname, 8, 0, proname || ' ' || replace(regexp_replace(pg_get_functiondef(p.oid), '\\s+', ' ', 'g'),
                                                 format(', %L, ''pg_temp''', nspname), ', here, ''pg_temp''')
    from pg_proc p join pg_namespace n on n.oid = pronamespace where pronamespace = $1::regnamespace and prokind in ('f', 'p')
     and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and deptype = 'e')
)
select trim(replace(line, $1 || '.', '')) as line from parts order by name collate "C", part, n, line collate "C"`;

describe('migrations', () => {
  it('are applied once by ten servers that start together', async () => {
    const empty = await ownDatabase();
    await empty.pool.query('drop schema public cascade; create schema public');
    const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(empty.pool)));
    // One of them may have applied the first and another the second.
    const inOrder = applied.flat().toSorted((one, other) => one.version - other.version);
    expect(inOrder).toEqual(await listMigrations());
  });

  it('refuse a newer schema that does not declare the oldest supported build', async () => {
    const newer = await ownDatabase();
    await newer.pool.query(
      `insert into schema_migrations (version, name) select max(version) + 1, 'later' from schema_migrations`,
    );
    await expect(migrate(newer.pool)).rejects.toThrow(
      'this build does not support the newer one: run a newer build',
    );
  });

  it('declare the oldest build that they support', async () => {
    const { rows } = await database.pool.query(
      'select version, name, oldest_build as oldest from schema_migrations order by version',
    );
    expect(rows.map(({ version, name }) => ({ version, name }))).toEqual(await listMigrations());
    for (const { name, version, oldest } of rows) {
      expect(oldest, `${name} begins with "-- Serves builds from schema version N on."`).not.toBeNull();
      expect(oldest).toBeLessThanOrEqual(version);
    }
  });

  it('don’t block other requests while they wait for a lock, and continue when it is free', async () => {
    const older = await ownDatabase();
    const later = copyOfBuild('alter table clients add column made integer');
    onTestFinished(() => later.remove());
    // As a long report has it.
    const report = 'lock table clients in access share mode';
    const [migrated] = await whileHeld(older.pool, report, [], async () => {
      const migrating = spawnAssent(['migrate', '--json'], onDatabase(older.url), '', later.executable);
      for (const turn of [1, 2]) {
        await waitForLocks(older.pool, 1);
        const { rows } = await older.pool.query('select count(*)::int from clients'); // queues behind it
        expect({ turn, rows }).toEqual({ turn, rows: [{ count: 0 }] });
      }
      return [migrating];
    });
    expect(JSON.parse((await migrated)?.stdout ?? '')).toMatchObject({
      applied: [expect.stringMatching(/_made\.sql$/)],
    });
  });

  it('refuse a database whose encoding is not UTF-8', async () => {
    const other = await ownDatabase(`encoding 'LATIN1' locale_provider libc locale 'C' template template0`);
    await expect(migrate(other.pool)).rejects.toThrow(/LATIN1.*UTF8/);
  });

  it('set a fixed search path in every function, whatever that of the database is', async () => {
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

  it('index no text by a collation of ICU or libc, except kinds of events', async () => {
    const { rows } = await database.pool.query<{ place: string }>(`
      select distinct format('%s.%s', regexp_replace(c.relname, '_(\\d{4}_\\d\\d|rest)$', ''), pg_get_indexdef(indexrelid, n, true)) as place
        from pg_index join pg_class c on c.oid = indrelid, generate_series(1, indnatts) n
       where relnamespace = 'public'::regnamespace and indcollation[n - 1] not in (0, '"C"'::regcollation)`);
    expect(rows).toEqual([{ place: 'audit_events.kind' }]);
  });

  it('result in the recorded schema', async () => {
    expect((await schemaState(database.pool)).version).toBe((await listMigrations()).length);
    await expect(await describeSchema(database.pool)).toMatchFileSnapshot('schema.txt');
  });
});

const quoted = (url: string) => pg.escapeIdentifier(new URL(url).pathname.slice(1));

/** All that the migrations defined, a line each, as in `schema.txt`; which months the trail has depends on today. */
function describeSchema(pool: pg.Pool): Promise<string> {
  return transaction(pool, async (connection) => {
    const { rows } = await connection.query<{ schema: string }>(
      `select relnamespace::regnamespace::text as schema from pg_class where oid = 'audit_events'::regclass`,
    );
    await connection.query(`set local search_path = pg_catalog; set local timezone = 'UTC'`); // one form of names and times
    const described = await connection.query<{ line: string }>(LINES, [rows[0]?.schema]);
    const lines = described.rows.map(({ line }) => line).filter((line) => !/^audit_events_\d/.test(line));
    return lines.map((line) => `${line}\n`).join('');
  });
}
