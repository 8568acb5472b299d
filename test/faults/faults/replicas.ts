import { openLine } from '../../support/http/line.ts';
import type { Faults, Place } from '../faults.ts';
import { losing, repeat } from './make.ts';

const restart =
  (signal: NodeJS.Signals, expected: number | null) =>
  async ({ site, hold }: Place) => {
    for (const index of [0, 1]) {
      await hold(0.25);
      const code = await site.stopReplica(index, signal);
      if (code !== expected) throw new Error(`a replica ended with ${code}, not ${expected}`);
      await site.startReplica(index);
      await hold(0.25);
    }
  };

export const REPLICA_FAULTS: Faults = {
  rollingRestart: {
    what: 'SIGTERM of each replica in turn, and its restart',
    happen: restart('SIGTERM', 0),
  },
  killReplica: losing('kill -9 of each replica in turn, and its restart', restart('SIGKILL', null)),
  freezeReplica: losing('SIGSTOP of each replica in turn, then SIGCONT', async ({ site, hold }) => {
    for (const index of [0, 1]) {
      site.signalReplica(index, 'SIGSTOP');
      await hold(0.4);
      site.signalReplica(index, 'SIGCONT');
      await hold(0.1);
    }
  }),
  clockStep: {
    what: 'the clock of one replica an hour ahead, then an hour back, then right',
    happen: (place) => repeat(place, 3, () => place.site.signalReplica(1, 'SIGUSR2')),
  },
  lostReplies: {
    what: 'answers of both replicas lost on their way to the caller, every other half second',
    async happen(place) {
      const { site } = place;
      const ports = [0, 1].map((index) => site.portOf(index));
      const lines = await Promise.all(ports.map((port) => openLine({ host: 'localhost', port })));
      for (const [index, line] of lines.entries()) site.leadBy(index, line.port);
      await repeat(place, 10, (time) => {
        for (const line of lines) line.loseAnswers(time % 2 === 0);
      });
      for (const [index, line] of lines.entries()) {
        site.leadBy(index, site.portOf(index));
        line.close();
      }
    },
  },
};
