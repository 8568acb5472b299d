import { losing, signal } from '../faults/faults/make.ts';
import type { Faults, Place } from '../faults/faults.ts';
import { processesOf } from '../support/process/launch.ts';
import { type Cluster, HAPROXY_ALONE } from './cluster.ts';
import type { Member } from './member.ts';

// What happens to a cluster. Each fault is over when the cluster is whole again: a primary, and two standbys.

/** A fault of the primary: `happen` is over when it is mended. */
const ofPrimary = (what: string, happen: (leader: Member, place: Place<Cluster>) => Promise<void>) =>
  losing<Cluster>(what, async (place) => {
    await place.hold(0.2);
    await happen(await place.home.leader(), place);
    await place.home.isWhole();
    await place.hold(0.3);
  });

/** Another one takes over, and only after a while the primary is mended. */
const overcome = (
  what: string,
  strike: (leader: Member, place: Place<Cluster>) => unknown,
  mend: (leader: Member) => void = (leader) => leader.start(),
  goesOn = false,
) =>
  ofPrimary(what, async (leader, place) => {
    await strike(leader, place);
    await place.home.takesOver(leader);
    if (goesOn && !HAPROXY_ALONE) place.site.overtakenAt.push(await place.home.tookOverAt());
    await place.hold(0.5);
    mend(leader);
  });

export const FAILOVERS: Faults<Cluster> = {
  failoverSwitchover: ofPrimary(
    'another machine is made the primary, as for maintenance',
    (leader, { home }) => home.switchOver(leader),
  ),
  failoverKillPostgres: ofPrimary('kill -9 of the PostgreSQL of the primary', async (leader, { hold }) => {
    signal(leader.postgres().slice(0, 1), 'SIGKILL');
    await hold(0.5);
  }),
  failoverKillPatroni: overcome(
    'kill -9 of the Patroni of the primary, whose PostgreSQL goes on; then Patroni starts again',
    (leader) => signal([leader.patroni() ?? 0], 'SIGKILL'),
    (leader) => leader.start(),
    true,
  ),
  failoverKillMachine: overcome('kill -9 of all of the primary, which comes back later', (leader) =>
    signal(leader.family(), 'SIGKILL'),
  ),
  failoverKillBehind: overcome(
    'what sends WAL to standbys is stopped, then kill -9 of all of the primary, which comes back later',
    async (leader, { hold }) => {
      const senders = processesOf('walsender');
      const own = leader.postgres().filter((pid) => senders.includes(pid));
      signal(own, 'SIGSTOP');
      await hold(0.3);
      signal(leader.family(), 'SIGKILL');
    },
  ),
  failoverFreeze: overcome(
    'SIGSTOP of all of the primary until another one took over, then SIGCONT',
    (leader) => signal(leader.family(), 'SIGSTOP'),
    (leader) => signal(leader.family(), 'SIGCONT'),
  ),
};
