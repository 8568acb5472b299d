import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { transaction } from '../database/database.ts';
import { explainTrouble } from '../database/errors.ts';
import { queryLong, send } from '../database/query.ts';

/** Settings, then statements that each answer some checks: psql runs the same file. */
const FILE = new URL('../../../deploy/postgresql/invariants.sql', import.meta.url);

export interface Verdict {
  /** advice: can be improved; error: Assent can’t serve, or not safely. */
  readonly level: 'ok' | 'advice' | 'error';
  readonly text: string;
  /** Null if there is nothing to do. */
  readonly remedy: string | null;
}

export type Finding = Verdict & { readonly check: string };

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

type Answer = Omit<Finding, 'text'> & { readonly finding: string };

/** Checks all rows, while servers run. @param seconds per statement: a slower one leaves its checks unread */
export async function findBroken(pool: pg.Pool, seconds: number): Promise<Finding[]> {
  const { settings, questions } = await loadInvariantQueries();
  const found: Finding[] = [];
  for (const { checks, text } of questions) {
    const rows = await transaction(pool, async (connection) => {
      await send(connection, `set transaction read only; ${settings}`);
      const answers = await queryLong<Answer>(connection, { name: '', text }, seconds * 1000);
      return answers.map(({ check, level, finding, remedy }) => ({ check, level, text: finding, remedy }));
    }).catch((error: unknown) => checks.map((check) => ({ check, ...verdictOnUnread(error) })));
    found.push(...rows.toSorted((one, other) => checks.indexOf(one.check) - checks.indexOf(other.check)));
  }
  return found;
}

/** An unread row proves nothing, so it is an error too. */
export function verdictOnUnread(error: unknown): Verdict {
  const remedy = 'pass a longer --patience, or check a restored backup; grant the server role its privileges';
  return { level: 'error', text: `not checked: ${explainTrouble(error)}`, remedy };
}
