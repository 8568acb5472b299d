import { describe, expect, it } from 'vitest';
import { PLANTS, playEach, playPlanted } from './planted.ts';
import { findingsOf } from './report.ts';

// `npm run faults -- --planted` sets the variable. Without it, two that take some seconds; faults.test.ts has the right build.
const isLong = process.env.FAULTS_PLANTED !== undefined;
const plants = Object.entries(PLANTS).slice(0, isLong ? undefined : 2);

describe('of a server that is built wrong the auditor finds', { timeout: 300_000 }, () => {
  it.each(plants)('%s', async (_what, plant) => {
    const [outcome] = await playPlanted(plant);
    expect(Object.keys(outcome?.findings ?? {})).toContain(plant.rule);
  });

  if (isLong) {
    it('nothing, where it is built right', async () => {
      const outcomes = await playEach(plants.map(([, plant]) => plant));
      expect(outcomes.map(findingsOf)).toEqual(plants.map(() => ''));
    });
  }
});
