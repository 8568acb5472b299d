import { Console } from 'node:console';
import { expect, it } from 'vitest';
import { Dice } from '../faults/dice.ts';
import { Clock } from './clock.ts';
import { Life, type Settings } from './life.ts';
import { type Fault, PEOPLE_IF_PLANTED, PLANTED } from './planted.ts';

// `run.mjs` starts this under the clock.

const {
  YEARS_SEED = '1',
  YEARS_MONTHS = '40',
  YEARS_PEOPLE = '2000',
  YEARS_BEGIN = '2026-12',
  YEARS_FOLDER = '',
  YEARS_LIBRARY = '',
  YEARS_PLANTED,
} = process.env;
const months = Number(YEARS_MONTHS);
const report = new Console(process.stdout);

const print = (line: string) => report.log(line);

async function live(settings: Omit<Settings, 'print'>) {
  const life = await Life.begin(new Clock(YEARS_FOLDER, YEARS_LIBRARY), new Dice(YEARS_SEED), {
    ...settings,
    print,
  });
  try {
    await life.live();
    return life.findings;
  } catch (error) {
    print((error as Error).stack ?? ''); // the end may fail, too
    throw error;
  } finally {
    await life.end();
  }
}

const TIMEOUT = 3_600_000;

if (YEARS_PLANTED === undefined)
  it(`${months} months lose, double and invent nothing`, { timeout: TIMEOUT }, async () => {
    const findings = await live({
      months,
      people: Number(YEARS_PEOPLE),
      begin: YEARS_BEGIN,
      fault: undefined,
    });
    expect(Object.fromEntries([...findings].map(([rule, found]) => [rule, found.length]))).toEqual({});
  });
else
  it.each(YEARS_PLANTED === 'all' ? (Object.keys(PLANTED) as Fault[]) : [YEARS_PLANTED as Fault])(
    'the fault %s is found',
    { timeout: TIMEOUT },
    async (fault) => {
      const { rule, months, begin } = PLANTED[fault];
      expect([...(await live({ months, begin, people: PEOPLE_IF_PLANTED, fault })).keys()]).toContain(rule);
    },
  );
