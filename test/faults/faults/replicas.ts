import { openLine } from '../../support/http/line.ts';
import type { Faults, Place } from '../faults.ts';
import type { Replica } from '../site.ts';
import { losing, repeat, signal } from './make.ts';

const pidsOf = (replica: Replica | undefined) => (replica?.process ? [replica.process.pid] : []);

const restart =
  (by: NodeJS.Signals, expected: number | null) =>
  async ({ site, hold }: Place) => {
    for (const replica of site.replicas) {
      await hold(0.25);
      const code = await site.stopReplica(replica, by);
      if (code !== expected) throw new Error(`a replica ended with ${code}, not ${expected}`);
      await site.startReplica(replica);
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
    for (const replica of site.replicas) {
      signal(pidsOf(replica), 'SIGSTOP');
      await hold(0.4);
      signal(pidsOf(replica), 'SIGCONT');
      await hold(0.1);
    }
  }),
  clockStep: {
    what: 'the clock of one replica an hour ahead, then an hour back, then right',
    happen: (place) => repeat(place, 3, () => signal(pidsOf(place.site.replicas[1]), 'SIGUSR2')),
  },
  lostReplies: {
    what: 'answers of both replicas lost on their way to the caller, every other half second',
    async happen(place) {
      const { replicas } = place.site;
      const lines = await Promise.all(replicas.map(({ port }) => openLine({ host: 'localhost', port })));
      for (const [index, line] of lines.entries()) Object.assign(replicas[index] ?? {}, { front: line.port });
      await repeat(place, 10, (time) => {
        for (const line of lines) line.loseAnswers(time % 2 === 0);
      });
      for (const replica of replicas) replica.front = replica.port;
      for (const line of lines) line.close();
    },
  },
};
