import type { Fault } from '../faults/faults.ts';
import { processesOf } from '../support/launch.ts';
import type { Cluster } from './cluster.ts';

// What happens to a cluster. Each fault is over when the cluster is whole again: a primary, and two standbys.

type Failover = Fault<Cluster>;

/** A fault of the primary: `happen` is over when it is mended. */
function ofPrimary(what: string, happen: Failover['happen']): Failover {
  return {
    what,
    losesAnswers: true,
    async happen(place) {
      await place.hold(0.2);
      await happen(place);
      await place.home.isWhole();
      await place.hold(0.3);
    },
  };
}

export const FAILOVERS: Readonly<Record<string, Failover>> = {
  failoverSwitchover: ofPrimary('another machine is made the primary, as for maintenance', ({ home }) =>
    home.switchOver(),
  ),
  failoverKillPostgres: ofPrimary('kill -9 of the PostgreSQL of the primary', async ({ home, hold }) => {
    const leader = await home.leader();
    leader.signal(leader.postgres().slice(0, 1), 'SIGKILL');
    await hold(0.5);
  }),
  failoverKillPatroni: ofPrimary(
    'kill -9 of the Patroni of the primary, whose PostgreSQL goes on; then Patroni starts again',
    async ({ home, hold }) => {
      const leader = await home.leader();
      leader.signal([leader.patroni() ?? 0], 'SIGKILL');
      await home.takesOver(leader);
      await hold(0.5);
      leader.start();
    },
  ),
  failoverKillMachine: ofPrimary(
    'kill -9 of all of the primary, which comes back later',
    async ({ home, hold }) => {
      const leader = await home.leader();
      leader.signal(leader.family(), 'SIGKILL');
      await home.takesOver(leader);
      await hold(0.5);
      leader.start();
    },
  ),
  failoverKillBehind: ofPrimary(
    'what sends WAL to standbys is stopped, then kill -9 of all of the primary, which comes back later',
    async ({ home, hold }) => {
      const leader = await home.leader();
      const senders = processesOf('walsender');
      leader.signal(
        leader.postgres().filter((pid) => senders.includes(pid)),
        'SIGSTOP',
      );
      await hold(0.3);
      leader.signal(leader.family(), 'SIGKILL');
      await home.takesOver(leader);
      await hold(0.5);
      leader.start();
    },
  ),
  failoverFreeze: ofPrimary(
    'SIGSTOP of all of the primary until another one took over, then SIGCONT',
    async ({ home, hold }) => {
      const leader = await home.leader();
      const frozen = leader.family();
      leader.signal(frozen, 'SIGSTOP');
      await home.takesOver(leader);
      await hold(0.5);
      leader.signal(frozen, 'SIGCONT');
    },
  ),
};
