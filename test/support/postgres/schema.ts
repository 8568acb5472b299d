import type pg from 'pg';
import { transaction } from '../../../src/store/database/database.ts';

// Each line begins with the name of its table, sequence or function. Indexes of the trail's partitions have no name here:
// PostgreSQL chose it.
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

/** All that the migrations defined, a line each, as in `migrations/schema.txt`; which months the trail has depends on today. */
export function describeSchema(pool: pg.Pool): Promise<string> {
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
