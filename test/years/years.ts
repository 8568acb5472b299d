import { Console } from 'node:console';
import { expect, it } from 'vitest';
import { Dice } from '../faults/dice.ts';
import { Clock } from './clock.ts';
import { Life } from './life.ts';
import { type Fault, PLANTED } from './planted.ts';

// `run.mjs` starts this under the clock.

const {
  YEARS_SEED = '1',
  YEARS_MONTHS = '40',
  YEARS_PEOPLE = '2000',
  YEARS_FOLDER = '',
  YEARS_LIBRARY = '',
  YEARS_PLANTED,
} = process.env;
const months = Number(YEARS_MONTHS);
const report = new Console(process.stdout);

async function live(fault?: Fault) {
  const clock = new Clock(YEARS_FOLDER, YEARS_LIBRARY);
  const life = await Life.begin(clock, new Dice(YEARS_SEED), { months, people: Number(YEARS_PEOPLE), fault });
  try {
    await life.live((line) => report.log(line));
    return life.findings;
  } finally {
    await life.end();
  }
}

const TIMEOUT = 3_600_000;

if (YEARS_PLANTED === undefined)
  it(`${months} months lose, double and invent nothing`, { timeout: TIMEOUT }, async () => {
    const findings = await live();
    expect(Object.fromEntries([...findings].map(([rule, found]) => [rule, found.length]))).toEqual({});
  });
else
  it.each(YEARS_PLANTED === 'all' ? (Object.keys(PLANTED) as Fault[]) : [YEARS_PLANTED as Fault])(
    'the fault %s is found',
    { timeout: TIMEOUT },
    async (fault) => {
      expect([...(await live(fault)).keys()]).toContain(PLANTED[fault]);
    },
  );
