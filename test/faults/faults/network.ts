import { vi } from 'vitest';
import { PATIENCE } from '../../support/process/program.ts';
import type { Faults } from '../faults.ts';
import { losing, repeat } from './make.ts';

export const NETWORK_FAULTS: Faults = {
  resetConnections: losing((place) => repeat(place, 10, () => place.home.line.reset())),
  /** Present connections carry nothing more, and neither end is told; new ones work. */
  halfOpen: losing(async ({ home, hold }) => {
    home.line.cut();
    await hold();
  }),
  /** New connections carry nothing, too. */
  silence: losing(async ({ home, hold }) => {
    home.line.silence(true);
    await hold();
    home.line.silence(false);
  }),
  latency: losing(async (place) => {
    const { line } = place.home;
    await repeat(place, 3, (time) => line.delay([300, 1_500, 3_000][time] ?? 0));
    line.delay(0);
  }),
  /** Statements that decide arrive after their callers got 503, which is after 7 seconds. */
  lateStatements: {
    async happen({ home: { line }, hold }) {
      line.holdBack(['grant-exchange', 'grant-revoke']);
      // Drivers need approvals to come so far; later ones would annul codes and tokens of what is held.
      await vi.waitUntil(() => line.held() > 2, PATIENCE);
      line.holdBack(['grant-exchange', 'grant-revoke', 'grant-approve']);
      await hold();
      await line.letThrough();
    },
  },
  /** Answers of PostgreSQL are lost with their connection, in every other period. */
  lostAnswers: losing((place) => repeat(place, 10, (time) => place.home.line.loseAnswers(time % 2 === 0))),
  /** Single answers are lost: the repeated statement succeeds. */
  lostOnce: losing((place) =>
    repeat(place, 20, async () => {
      place.home.line.loseAnswers(true);
      await place.hold(0.002);
      place.home.line.loseAnswers(false);
    }),
  ),
};
