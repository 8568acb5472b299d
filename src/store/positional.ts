import type { Database } from './database.ts';
import { decide as decideAll, decideOne as decideNamed, momentOf as moment } from './deadline.ts';
import { inOrder as order, queryOne as queryNamed } from './query.ts';

// Statements with `$1 … $n`, for the files that are not converted yet.

interface Statement {
  readonly name: string;
  readonly text: string;
}

export const queryOne = <Row extends object>(db: Database, statement: Statement, values: unknown[]) =>
  queryNamed<Row>(db, { ...statement, values });

export const decideOne = <Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
  decideBy: number,
) => decideNamed<Row>(db, { ...statement, values }, decideBy);

export const momentOf = (deadline: string, ...locked: readonly string[]) =>
  moment(...locked).replace('@deadline', deadline);

export const decide = <Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
  decideBy: number,
) => decideAll<Row>(db, { ...statement, values }, decideBy);

export const inOrder = <Row extends { n: number }>(requests: readonly unknown[], rows: readonly Row[]) =>
  order({ name: '', text: '', size: requests.length }, rows);
