import { vi } from 'vitest';
import { PATIENCE } from '../../support/process/program.ts';
import type { Faults } from '../faults.ts';
import { losing, repeat } from './make.ts';

export const NETWORK_FAULTS: Faults = {
  resetConnections: losing('all connections to PostgreSQL end by RST, again and again', (place) =>
    repeat(place, 10, () => place.home.line.reset()),
  ),
  halfOpen: losing(
    'the connections of now hear nothing more and are not told; new ones work',
    async ({ home, hold }) => {
      home.line.cut();
      await hold();
    },
  ),
  silence: losing('nothing passes to PostgreSQL, on connections old and new', async ({ home, hold }) => {
    home.line.silence(true);
    await hold();
    home.line.silence(false);
  }),
  latency: losing('statements reach PostgreSQL 0.3 seconds late, then 1.5, then 3', async (place) => {
    const { line } = place.home;
    await repeat(place, 3, (time) => line.delay([300, 1_500, 3_000][time] ?? 0));
    line.delay(0);
  }),
  lateStatements: {
    what: 'statements that decide are held back, their callers are told 503 after 7 seconds, and then they arrive',
    async happen({ home: { line }, hold }) {
      line.holdBack(['grant-exchange', 'grant-revoke']);
      // Drivers need approvals to come so far; later ones would annul codes and tokens of what is held.
      await vi.waitUntil(() => line.held() > 2, PATIENCE);
      line.holdBack(['grant-exchange', 'grant-revoke', 'grant-approve']);
      await hold();
      await line.letThrough();
    },
  },
  lostAnswers: losing(
    'answers of PostgreSQL are lost with their connection, every other half second',
    (place) => repeat(place, 10, (time) => place.home.line.loseAnswers(time % 2 === 0)),
  ),
  lostOnce: losing('single answers of PostgreSQL are lost: asked once more, all is done', (place) =>
    repeat(place, 20, async () => {
      place.home.line.loseAnswers(true);
      await place.hold(0.002);
      place.home.line.loseAnswers(false);
    }),
  ),
};
