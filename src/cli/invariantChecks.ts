import type pg from 'pg';
import { transaction } from '../store/database/database.ts';
import { explainTrouble } from '../store/database/errorTexts.ts';
import { type Invariant, QUESTIONS } from '../store/invariants/ask.ts';
import { findTrailFacts } from '../store/schema/auditPartitions.ts';
import { compareSchema } from '../store/schema/definition.ts';
import { findGrantees, findOwners } from '../store/schema/owners.ts';
import { listMigrations, schemaVersion } from '../store/schema/schemaState.ts';
import { findDeviations } from '../store/schema/tablePrivileges.ts';
import { advice, type Finding, ok, type Verdict, wrong } from './finding.ts';
import { INVARIANT_TEXTS } from './invariantTexts.ts';

/**
 * Checks the schema as migrated, and what must be true of all rows together. Reads only.
 *
 * @param patience seconds that each question may take
 * @throws when the database can't be reached
 */
export async function checkInvariants(pool: pg.Pool, patience: number): Promise<Finding[]> {
  const [version, known] = [await schemaVersion(pool), (await listMigrations()).length];
  if (version !== known) return [{ check: 'schema', ...otherVersion(version, known) }];
  const findings: Finding[] = [];
  for (const [check, judge] of Object.entries(OF_SCHEMA)) {
    const verdicts = await judge(pool).catch((error: Error) => [notSeen(error)]);
    findings.push(...verdicts.map((verdict) => ({ check, ...verdict })));
  }
  for (const { names, ask } of QUESTIONS)
    findings.push(...(await ask(pool, patience).then(told, notTold(names))));
  return findings;
}

function otherVersion(version: number, known: number): Verdict {
  return wrong(
    `schema version ${version}, this build's is ${known}`,
    version < known ? 'run assent migrate' : 'look with the build that the schema is of',
  );
}

function told(answers: Awaited<ReturnType<(typeof QUESTIONS)[number]['ask']>>): Finding[] {
  return answers.map(({ name, rows, example }) => {
    const [holds, broken, remedy, level] = INVARIANT_TEXTS[name];
    const text = `${rows} ${broken}, such as ${example}`;
    if (rows === 0) return { check: name, ...ok(holds) };
    return { check: name, ...(level === 'advice' ? advice(text, remedy) : wrong(text, remedy)) };
  });
}

const notTold = (names: readonly Invariant[]) => (error: Error) =>
  names.map((name) => ({ check: name, ...notSeen(error) }));

/** What couldn't be looked at is no proof of anything, so it is an error too. */
function notSeen(error: Error): Verdict {
  const remedy = 'give it --patience, or a restored backup, and the server role’s rights';
  return wrong(`not looked at: ${explainTrouble(error)}`, remedy);
}

const MAX_NAMED = 20;

/** How a table is stored. */
const IS_SETTING = /^\w+ with /;

/** Lines that don't make rows wrong: how a table is stored, and an index more. */
const IS_HARMLESS = /^\w+ (with |CREATE INDEX (?!.* invalid$))/;

const OF_SCHEMA: Readonly<Record<string, (pool: pg.Pool) => Promise<Verdict[]>>> = {
  async definition(pool) {
    const { lacking, beside } = await transaction(pool, compareSchema);
    const lines = [
      ...lacking.map((line) =>
        verdictOn(`the schema lacks: ${line}`, IS_SETTING.test(line), 'make it again as migrations/ has it'),
      ),
      ...beside.map((line) =>
        verdictOn(
          `the schema has beside ours: ${line}`,
          IS_HARMLESS.test(line),
          'find out who made it, and drop it',
        ),
      ),
    ];
    return lines.length === 0
      ? [ok('the schema is what the migrations of this build make')]
      : lines.slice(0, MAX_NAMED);
  },

  async owners(pool) {
    const owners = await findOwners(pool);
    return owners.length === 1
      ? [ok(`everything of ours belongs to ${owners[0]}`)]
      : [
          wrong(
            `what is ours belongs to several roles: ${owners.join(', ')}`,
            'run reassign owned, so that one role owns it all',
          ),
        ];
  },

  /** Reading more than a server needs is a decision of the operator's. */
  async privileges(pool) {
    const verdicts: Verdict[] = [];
    for (const role of await findGrantees(pool)) {
      if (role === 'public')
        verdicts.push(wrong('every role was given rights on our tables', 'revoke all from public'));
      const { beyond } = await findDeviations(pool, role);
      const text = `the role ${role} has more than a server needs: ${beyond.join(', ')}`;
      const onlyReads = beyond.every((privilege) => privilege.startsWith('SELECT'));
      if (beyond.length > 0) verdicts.push(verdictOn(text, onlyReads, 'revoke it, as the owner'));
    }
    return verdicts.length > 0 ? verdicts : [ok('no role may do more with our tables than a server')];
  },

  async partitions(pool) {
    const { coversNow, monthsAhead } = await findTrailFacts(pool);
    const remedy = 'run assent maintain as the owner of the tables';
    return coversNow
      ? [ok(`the trail has partitions for this month and ${monthsAhead} more`)]
      : [wrong('the trail has no partition for this month', remedy)];
  },
};

const verdictOn = (text: string, isHarmless: boolean, remedy: string) =>
  isHarmless ? advice(text, remedy) : wrong(text, remedy);
