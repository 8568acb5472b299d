import { openLine } from '../../support/line.ts';
import type { Fault, Place } from '../faults.ts';

// What happens to the processes of `assent serve`, and on the way to them.

async function inTurn({ hold }: Place, work: (index: number) => Promise<void>): Promise<void> {
  for (const index of [0, 1]) {
    await hold(0.25);
    await work(index);
    await hold(0.25);
  }
}

async function expectCode(code: Promise<number | null>, expected: number | null): Promise<void> {
  if ((await code) !== expected) throw new Error(`a replica ended with ${await code}, not ${expected}`);
}

export const REPLICA_FAULTS: Readonly<Record<string, Fault>> = {
  rollingRestart: {
    what: 'SIGTERM of each replica in turn, and its restart',
    happen: (place) =>
      inTurn(place, async (index) => {
        await expectCode(place.site.stopReplica(index, 'SIGTERM'), 0);
        await place.site.startReplica(index);
      }),
  },
  killReplica: {
    what: 'kill -9 of each replica in turn, and its restart',
    losesAnswers: true,
    happen: (place) =>
      inTurn(place, async (index) => {
        await expectCode(place.site.stopReplica(index, 'SIGKILL'), null);
        await place.site.startReplica(index);
      }),
  },
  freezeReplica: {
    what: 'SIGSTOP of each replica in turn, then SIGCONT',
    losesAnswers: true,
    async happen({ site, hold }) {
      for (const index of [0, 1]) {
        site.signalReplica(index, 'SIGSTOP');
        await hold(0.4);
        site.signalReplica(index, 'SIGCONT');
        await hold(0.1);
      }
    },
  },
  clockStep: {
    what: 'the clock of one replica an hour ahead, then an hour back, then right',
    async happen({ site, hold }) {
      for (let step = 0; step < 3; step += 1) {
        site.signalReplica(1, 'SIGUSR2');
        await hold(1 / 3);
      }
    },
  },
  lostReplies: {
    what: 'answers of both replicas lost on their way to the caller, every other half second',
    async happen({ site, hold }) {
      const lines = await Promise.all(
        [0, 1].map((index) => openLine({ host: 'localhost', port: site.portOf(index) })),
      );
      for (const [index, line] of lines.entries()) site.leadBy(index, line.port);
      for (let time = 0; time < 10; time += 1) {
        for (const line of lines) line.loseAnswers(time % 2 === 0);
        await hold(0.1);
      }
      for (const index of [0, 1]) site.leadBy(index, null);
      for (const line of lines) line.close();
    },
  },
};
