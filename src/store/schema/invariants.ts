import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { transaction } from '../database/database.ts';
import { explainTrouble } from '../database/errors.ts';
import { queryLong, send } from '../database/query.ts';

/** Settings, then statements that each answer some checks: psql runs the same file. */
const FILE = new URL('../../../deploy/postgresql/invariants.sql', import.meta.url);

interface Broken {
  readonly check: string;
  /** A sentence: the invariant holds, or has these violations. */
  readonly finding: string;
  /** Null if there is nothing to do. */
  readonly remedy: string | null;
  readonly level: 'ok' | 'advice' | 'error';
}

export async function loadInvariantQueries() {
  const statements = (await readFile(FILE, 'utf8')).replaceAll(/^--.*\n/gm, '').split(/;$/m);
  const settings = statements.filter((text) => /^\s*set /.test(text));
  const questions = statements.filter((text) => /^\s*with checks /.test(text));
  return {
    settings: settings.map((text) => text.replace('set ', 'set local ')).join(';'),
    questions: questions.map((text) => ({
      checks: [...text.matchAll(/^ {2}\('(\w+)', /gm)].map(([, name = '']) => name),
      text,
    })),
  };
}

/** Checks all rows, while servers run. @param seconds per statement: a slower one leaves its checks unread */
export async function findBroken(pool: pg.Pool, seconds: number): Promise<Broken[]> {
  const { settings, questions } = await loadInvariantQueries();
  const found: Broken[] = [];
  for (const { checks, text } of questions) {
    const rows = await transaction(pool, async (connection) => {
      await send(connection, `set transaction read only; ${settings}`);
      return queryLong<Broken>(connection, { name: '', text }, seconds * 1000);
    }).catch((error: unknown) => checks.map((check) => ({ check, ...uncheckedFinding(error) })));
    found.push(...rows.toSorted((one, other) => checks.indexOf(one.check) - checks.indexOf(other.check)));
  }
  return found;
}

/** An unread row proves nothing, so it is an error too. */
export function uncheckedFinding(error: unknown): Omit<Broken, 'check'> {
  const remedy = 'pass a longer --patience, or check a restored backup; grant the server role its privileges';
  const finding = `not checked: ${explainTrouble(error)}`;
  return { finding, remedy, level: 'error' };
}
