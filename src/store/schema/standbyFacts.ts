import type pg from 'pg';
import { query, queryRow } from '../database/query.ts';
import { statement } from '../database/statement.ts';

/** What the primary says of those that follow it. */
export interface ReplicationFacts {
  /** Of our transactions. */
  readonly synchronousCommit: string;
  /** The setting, as it stands there. */
  readonly synchronousStandbyNames: string;
  /** Those that stream now, by name; several may have one name. Null where this role may not see them. */
  readonly streaming: readonly string[] | null;
}

const SETTINGS = statement(
  '',
  `select current_setting('synchronous_commit') as "synchronousCommit",
          current_setting('synchronous_standby_names') as "synchronousStandbyNames"`,
);

// Who may not see the details is told the process alone, and who has no standby no row.
const STREAMING = statement(
  '',
  'select application_name as name, state is not null as visible from pg_stat_replication',
);

/** @throws when the primary is away */
export async function findReplicationFacts(primary: pg.Pool): Promise<ReplicationFacts> {
  const settings = await queryRow<Omit<ReplicationFacts, 'streaming'>>(primary, SETTINGS());
  const rows = await query<{ name: string; visible: boolean }>(primary, STREAMING());
  return {
    ...settings,
    streaming: rows.every(({ visible }) => visible) ? rows.map(({ name }) => name) : null,
  };
}

// By what it gave the primary as its name, where this role may see that, or else by what it would give by default.
const NAME = statement(
  '',
  `select coalesce(
     (select coalesce(substring(conninfo from '(?:^| )application_name=''?([^ '']+)'),
                      substring(conninfo from 'fallback_application_name=''?([^ '']+)')) from pg_stat_wal_receiver),
     nullif(current_setting('cluster_name'), '')) as name`,
);

/** The name by which a standby follows its primary; null where it can't be seen. */
export async function findStandbyName(standby: pg.Pool): Promise<string | null> {
  return (await queryRow<{ name: string | null }>(standby, NAME())).name;
}

/**
 * Whose replies a commit waits for, by `synchronous_standby_names` (PostgreSQL's manual, 19.6.2).
 *
 * @returns in lower case, as PostgreSQL compares; none where it is not all of those that are named
 */
export function alwaysWaitedFor(synchronousStandbyNames: string): string[] {
  const [, method = '', count = '1', list = ''] =
    /^\s*(?:(first|any)\s+)?(?:(\d+)\s*\()?([^()]*)\)?\s*$/i.exec(synchronousStandbyNames) ?? [];
  const names = list
    .split(',')
    .map((name) => name.trim().replaceAll(/^"|"$/g, '').toLowerCase())
    .filter((name) => name !== '');
  const [first] = names;
  // Of those that are named, the first ones are waited for always; of ANY, none where one may be left out.
  if (names.includes('*') || first === undefined) return [];
  if (/any/i.test(method)) return Number(count) >= names.length ? names : [];
  return names.slice(0, Number(count));
}
