import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { ANSWER_MS } from '../../src/rules/common/timeouts.ts';
import { FAULTS } from './faults.ts';
import { makeHome } from './home.ts';
import type { Entry } from './journal.ts';
import { type Outcome, openStage, play } from './round.ts';
import { groupBy } from './rules/tokens.ts';

// The auditor is tried on servers that are wrong: builds in which one line is changed.

/** How many there are among the entries of what can show a fault. */
type Situation = (entries: readonly Entry[]) => number;

/** Codes whose exchange came more than once, each time with an answer. */
const races: Situation = (entries) => {
  const answered = entries.filter(
    ({ act, told }) => act === 'exchange' && (told === 'done' || told === 'refused'),
  );
  return [...groupBy(answered, ({ body }) => body).values()].filter((all) => all.length > 1).length;
};

/** Questions for a token of an authorization that was given anew, and whose new code was not exchanged yet. */
const annulments: Situation = (entries) =>
  [...groupBy(entries, ({ key, told }) => (told === 'done' ? key : undefined)).values()].flatMap((all) =>
    all.filter(({ act }, index) => act === 'introspect' && all[index - 1]?.act === 'approve'),
  ).length;

const exchanges: Situation = (entries) =>
  entries.filter(({ act, told }) => act === 'exchange' && told === 'done').length;

/** What was on its way until its caller was told 503. */
const overdue: Situation = (entries) =>
  entries.filter(
    ({ act, told, askedAt, toldAt }) =>
      act === 'exchange' && told === 'unavailable' && toldAt - askedAt >= ANSWER_MS,
  ).length;

/** A wrong server: what is changed in a file of `dist`, which fault shows it, and which rule of the auditor finds it. */
export interface Plant {
  readonly file: string;
  readonly line: string;
  readonly instead: string;
  readonly fault: keyof typeof FAULTS;
  readonly situation: Situation;
  /** How often the situation has to come. */
  readonly times: number;
  readonly rule: string;
}

/** By what they are. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  'a code can be exchanged twice': {
    file: 'store/token/exchanges.js',
    line: `'code_replayed']`,
    instead: `'to_issue']`,
    fault: 'none',
    situation: races,
    times: 8,
    rule: 'a code is exchanged at most once',
  },
  'a replay revokes nothing': {
    file: 'store/token/exchanges.js',
    line: `j.verdict = 'code_replayed'`,
    instead: `j.verdict = 'none'`,
    fault: 'none',
    situation: races,
    times: 8,
    rule: 'a token is dead once its code came again in time',
  },
  'a new authorization annuls no token': {
    file: 'store/authorize/approvals.js',
    line: 'token_hash = null, token_issued_at = null, ',
    instead: '',
    fault: 'none',
    situation: annulments,
    times: 8,
    rule: 'a token that was annulled or revoked stays dead',
  },
  'statements have no deadline': {
    file: 'store/database/deadline.js',
    line: '@deadline::timestamptz as late',
    instead: `@deadline::timestamptz + interval '1 hour' as late`,
    fault: 'lateStatements',
    situation: overdue,
    times: 2,
    rule: 'what was answered 503 was not done, unless an answer was lost, and is not done later',
  },
  'answers come before the commit': {
    file: 'store/database/connection.js',
    line: `default_transaction_isolation: 'read committed',`,
    instead: `default_transaction_isolation: 'read committed', synchronous_commit: 'off',`,
    fault: 'killUnflushed',
    situation: exchanges,
    times: 20,
    rule: 'everything that was told has its row in the trail',
  },
};

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/** A copy of the build with one line changed. @throws {Error} where that line isn't there once */
function buildWith({ file, line, instead }: Plant): string {
  const parts = readFileSync(join(CHECKOUT, 'dist', file), 'utf8').split(line);
  if (parts.length !== 2) throw new Error(`dist/${file} has ${parts.length - 1} times, not once: ${line}`);
  const folder = mkdtempSync(join(tmpdir(), 'assent-planted-'));
  for (const part of ['bin', 'dist', 'migrations', 'views', 'package.json']) {
    cpSync(join(CHECKOUT, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'dist', file), parts.join(instead));
  return folder;
}

/** Plays what shows a fault on the build that has it. */
export async function playPlanted(plant: Plant): Promise<Outcome[]> {
  const folder = buildWith(plant);
  try {
    return await playEach([plant], join(folder, 'bin/assent.js'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Against hanging only. */
const PATIENCE = { timeout: 120_000, interval: 50 };

/** Plays on one site what shows each of these. It goes on until the situation has come that often, however busy the machine is. */
export async function playEach(plants: readonly Plant[], executable?: string): Promise<Outcome[]> {
  const stage = await openStage(await makeHome(), FAULTS, { seed: '1', users: 3, clients: 3, executable });
  try {
    const outcomes: Outcome[] = [];
    for (const { fault, situation, times } of plants) {
      const { entries } = stage.site.journal;
      const since = entries.length;
      const hasCome = () => situation(entries.slice(since)) >= times;
      outcomes.push(await play(stage, fault, () => vi.waitUntil(hasCome, PATIENCE).then(() => undefined)));
    }
    return outcomes;
  } finally {
    await stage.site.close();
  }
}
