import { readFile } from '../support/process/folder.ts';
import type { Postgres } from './postgres.ts';

/** The tables of docs/operate/scaling.md, by their words there. */
const TABLES = {
  'a user': 'users',
  'an authorization': 'grants',
  'an event of the audit trail': 'audit_events',
  'a payment, with `SPENDING=on`': 'payment_reservations',
};
/** The events that are counted there. */
const WHICH: Readonly<Record<string, string>> = {
  audit_events: `where kind in ('signed_in', 'approved', 'approved_again', 'exchanged')`,
};
/** In smaller tables, the pages that are not full count too much. */
const FEW_ROWS = 1_500;
const TOLERATED = 0.15;

interface Size {
  readonly table: string;
  readonly rows: number;
  /** A row, with its indexes. */
  readonly bytes: number;
  /** By docs/operate/scaling.md. */
  readonly documented: number;
  readonly isWrong: boolean;
}

/** Copies each table with its indexes into one without partitions, of which most would be nearly empty here, and measures that. */
export async function measureDisk(postgres: Postgres): Promise<Size[]> {
  const sizes = [];
  for (const [words, table] of Object.entries(TABLES)) {
    const copy = `size_of_${table}`;
    await postgres.run(
      `create table ${copy} (like ${table} including all)`,
      `insert into ${copy} select * from ${table} ${WHICH[table] ?? ''}`,
    );
    const [{ rows, size } = { rows: '0', size: '0' }] = await postgres.query<{ rows: string; size: string }>(
      `select (select count(*) from ${copy}) as rows, pg_total_relation_size('${copy}') as size`,
    );
    await postgres.run(`drop table ${copy}`);
    const [, number = ''] = readFile('docs/operate/scaling.md').split(`| ${words} | `);
    const [documented, bytes] = [Number.parseInt(number, 10), Number(size) / Math.max(1, Number(rows))];
    const isWrong = Number(rows) >= FEW_ROWS && !(Math.abs(bytes / documented - 1) <= TOLERATED);
    sizes.push({ table, rows: Number(rows), bytes: Math.round(bytes), documented, isWrong });
  }
  return sizes;
}
