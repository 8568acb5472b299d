import { vi } from 'vitest';
import type { Fault } from '../faults.ts';

// What happens on the line between the replicas and PostgreSQL.

/** Against hanging only. */
const PATIENCE = { timeout: 60_000, interval: 10 };

export const NETWORK_FAULTS: Readonly<Record<string, Fault>> = {
  resetConnections: {
    what: 'all connections to PostgreSQL end by RST, again and again',
    losesAnswers: true,
    async happen({ home, hold }) {
      for (let times = 0; times < 10; times += 1) {
        home.line.reset();
        await hold(0.1);
      }
    },
  },
  halfOpen: {
    what: 'the connections of now hear nothing more and are not told; new ones work',
    losesAnswers: true,
    async happen({ home, hold }) {
      home.line.cut();
      await hold();
    },
  },
  silence: {
    what: 'nothing passes to PostgreSQL, on connections old and new',
    losesAnswers: true,
    async happen({ home, hold }) {
      home.line.silence(true);
      await hold();
      home.line.silence(false);
    },
  },
  latency: {
    what: 'statements reach PostgreSQL 0.3 seconds late, then 1.5, then 3',
    losesAnswers: true,
    async happen({ home, hold }) {
      for (const ms of [300, 1_500, 3_000]) {
        home.line.delay(ms);
        await hold(1 / 3);
      }
      home.line.delay(0);
    },
  },
  lateStatements: {
    what: 'statements that decide are held back, their callers are told 503 after 7 seconds, and then they arrive',
    async happen({ home, hold }) {
      home.line.holdBack(['grant-exchange', 'grant-revoke']);
      // Drivers need approvals to come so far; later ones would annul codes and tokens of what is held.
      await vi.waitUntil(() => home.line.held() > 2, PATIENCE);
      home.line.holdBack(['grant-exchange', 'grant-revoke', 'grant-approve']);
      await hold();
      await home.line.letThrough();
    },
  },
  lostAnswers: {
    what: 'answers of PostgreSQL are lost with their connection, every other half second',
    losesAnswers: true,
    async happen({ home, hold }) {
      for (let time = 0; time < 10; time += 1) {
        home.line.loseAnswers(time % 2 === 0);
        await hold(0.1);
      }
    },
  },
  lostOnce: {
    what: 'single answers of PostgreSQL are lost: asked once more, all is done',
    losesAnswers: true,
    async happen({ home, hold }) {
      for (let time = 0; time < 20; time += 1) {
        home.line.loseAnswers(true);
        await hold(0.002);
        home.line.loseAnswers(false);
        await hold(0.048);
      }
    },
  },
};
