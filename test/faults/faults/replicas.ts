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
  rollingRestart: { happen: restart('SIGTERM', 0) },
  killReplica: losing(restart('SIGKILL', null)),
  freezeReplica: losing(async ({ site, hold }) => {
    for (const replica of site.replicas) {
      signal(pidsOf(replica), 'SIGSTOP');
      await hold(0.4);
      signal(pidsOf(replica), 'SIGCONT');
      await hold(0.1);
    }
  }),
  clockStep: { happen: (place) => repeat(place, 3, () => signal(pidsOf(place.site.replicas[1]), 'SIGUSR2')) },
  lostReplies: {
    /** Answers of the replicas are lost on their way to callers, in every other period. */
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
