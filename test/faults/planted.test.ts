import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ANSWER_MS } from '../../src/rules/common/timeouts.ts';
import { type Build, copyOfBuild } from '../support/process/builds.ts';
import type { Act, Entry } from './evidence.ts';
import { FAULTS } from './faults.ts';
import { openStage, play } from './round.ts';
import { groupBy, issues } from './rules/tokens.ts';
import { makeHome } from './site.ts';

// The auditor on wrong servers: builds in which one line is changed. `npm run faults -- --planted` sets the variable.
// Without it, two that take some seconds; faults.test.ts has the right build.

type Situation = (entries: readonly Entry[]) => number;

const repeats = (of: Act) => (entries: readonly Entry[]) => {
  const answered = entries.filter(({ act, told }) => act === of && (told === 'done' || told === 'refused'));
  return [...groupBy(answered, ({ body }) => body).values()].filter(
    (all) => all.length > 1 && all.some(({ told }) => told === 'done'),
  ).length;
};

/** Questions for a token of an authorization that was given anew, and whose new code was not exchanged yet. */
const annulments: Situation = (entries) =>
  [...groupBy(entries, ({ key, told }) => (told === 'done' ? key : undefined)).values()].flatMap((all) =>
    all.filter(({ act }, index) => act === 'introspect' && all[index - 1]?.act === 'approve'),
  ).length;

const exchanges: Situation = (entries) => issues(entries).length;

const reservations: Situation = (entries) =>
  entries.filter(({ act, told }) => act === 'pay' && told === 'done').length;

/** Exchanges that were on their way until their callers got 503. */
const overdue: Situation = (entries) =>
  entries.filter(
    ({ act, told, askedAt, toldAt }) =>
      act === 'exchange' && told === 'unavailable' && toldAt - askedAt >= ANSWER_MS,
  ).length;

/** A wrong server: the change in a file of `dist`, the fault that shows it, and the auditor's rule that finds it. */
interface Plant {
  readonly change: readonly [file: string, line: string, instead: string];
  readonly fault: string;
  readonly until: readonly [situation: Situation, times: number];
  readonly rule: string | readonly string[];
}

const PLANTS: Readonly<Record<string, Plant>> = {
  'a code can be exchanged twice': {
    change: ['store/token/exchanges.js', `'code_replayed']`, `'to_issue']`],
    fault: 'none',
    until: [repeats('exchange'), 8],
    rule: 'a code is exchanged at most once',
  },
  'a replay revokes nothing': {
    change: ['store/token/exchanges.js', `j.verdict = 'code_replayed'`, `j.verdict = 'none'`],
    fault: 'none',
    until: [repeats('exchange'), 8],
    rule: 'a token is revoked once its code is replayed',
  },
  'a new authorization leaves the old token valid': {
    change: ['store/authorize/approvals.js', 'token_hash = null, token_issued_at = null, ', ''],
    fault: 'none',
    until: [annulments, 8],
    rule: 'a token that was annulled or revoked stays inactive',
  },
  'statements have no deadline': {
    change: [
      'store/database/deadline.js',
      '@deadline::timestamptz as late',
      `@deadline::timestamptz + interval '1 hour' as late`,
    ],
    fault: 'lateStatements',
    until: [overdue, 2],
    rule: 'a request answered 503 is not carried out, or only in time if PostgreSQL’s answer was lost',
  },
  'responses are sent before the commit is on disk': {
    change: [
      'store/database/connection.js',
      `default_transaction_isolation: 'read committed',`,
      `default_transaction_isolation: 'read committed', synchronous_commit: 'off',`,
    ],
    fault: 'killUnflushed',
    until: [exchanges, 20],
    rule: [
      'each confirmed action has its row in the trail',
      'a payment is there once if it was answered as reserved, and not if it was refused',
    ],
  },
  'payments of one budget do not wait for each other': {
    change: ['store/token/payments.js', 'order by grant_id for no key update', 'order by grant_id'],
    fault: 'none',
    until: [reservations, 150],
    rule: 'no budget is spent above its limit',
  },
  'a payment does not notice a revocation': {
    change: [
      'store/token/payments.js',
      'is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)',
      'true',
    ],
    fault: 'none',
    until: [reservations, 150],
    rule: 'no payment is reserved after the end of its authorization',
  },
  'a repeated payment is refused': {
    change: ['store/token/payments.js', 'p.known = r.payment_hash and not p.was_released', 'false'],
    fault: 'none',
    until: [repeats('pay'), 8],
    rule: 'each repeat of a payment has the same answer',
  },
};

function buildWith([file, line, instead]: Plant['change']): Build {
  const build = copyOfBuild();
  const place = join(build.folder, 'dist', file);
  const parts = readFileSync(place, 'utf8').split(line);
  if (parts.length !== 2) throw new Error(`dist/${file} has ${parts.length - 1} times, not once: ${line}`);
  writeFileSync(place, parts.join(instead));
  return build;
}

/** Against hanging only. */
const PATIENCE = { timeout: 120_000, interval: 50 };

const isLong = process.env.FAULTS_PLANTED !== undefined;
const plants = Object.entries(PLANTS).slice(0, isLong ? undefined : 2);
const TITLE = 'the auditor finds the fault of a deliberately broken server: %s';

it.each(plants)(TITLE, { timeout: 300_000 }, async (_what, { change, fault, until, rule }) => {
  const { executable, remove } = buildWith(change);
  onTestFinished(remove);
  const stage = await openStage(await makeHome(), FAULTS, { seed: '1', users: 3, clients: 3, executable });
  onTestFinished(() => stage.site.close());
  const [situation, times] = until;
  // Until the situation has come that often, however busy the machine is.
  const hasCome = () => situation(stage.site.entries) >= times;
  const { findings } = await play(stage, fault, async () => void (await vi.waitUntil(hasCome, PATIENCE)));
  expect(Object.keys(findings)).toEqual(expect.arrayContaining([rule].flat()));
});
