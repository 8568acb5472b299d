import { losing, signal } from '../faults/faults/make.ts';
import type { Faults, Place } from '../faults/faults.ts';
import { processesOf } from '../support/process/launch.ts';
import { type Cluster, HAPROXY_ALONE } from './cluster.ts';
import type { Member } from './member.ts';

// Faults of a cluster. Each ends when the cluster is whole again: a primary, and two standbys.

/** A fault of the primary, which ends when the primary is mended. */
const ofPrimary = (happen: (leader: Member, place: Place<Cluster>) => Promise<void>) =>
  losing<Cluster>(async (place) => {
    await place.hold(0.2);
    await happen(await place.home.leader(), place);
    await place.home.isWhole();
    await place.hold(0.3);
  });

/** Another one takes over, and only after a while the primary is mended. @param goesOn whether its PostgreSQL survives */
const overcome = (
  strike: (leader: Member, place: Place<Cluster>) => unknown,
  mend: (leader: Member) => void = (leader) => leader.start(),
  goesOn = false,
) =>
  ofPrimary(async (leader, place) => {
    await strike(leader, place);
    await place.home.takesOver(leader);
    if (goesOn && !HAPROXY_ALONE) place.site.overtakenAt.push(await place.home.tookOverAt());
    await place.hold(0.5);
    mend(leader);
  });

/** README.md describes each. */
export const FAILOVERS: Faults<Cluster> = {
  failoverSwitchover: ofPrimary((leader, { home }) => home.switchOver(leader)),
  failoverKillPostgres: ofPrimary(async (leader, { hold }) => {
    signal(leader.postgres().slice(0, 1), 'SIGKILL');
    await hold(0.5);
  }),
  failoverKillPatroni: overcome(
    (leader) => signal([leader.patroni() ?? 0], 'SIGKILL'),
    (leader) => leader.start(),
    true,
  ),
  failoverKillMachine: overcome((leader) => signal(leader.family(), 'SIGKILL')),
  failoverKillBehind: overcome(async (leader, { hold }) => {
    const senders = processesOf('walsender');
    const own = leader.postgres().filter((pid) => senders.includes(pid));
    signal(own, 'SIGSTOP');
    await hold(0.3);
    signal(leader.family(), 'SIGKILL');
  }),
  failoverFreeze: overcome(
    (leader) => signal(leader.family(), 'SIGSTOP'),
    (leader) => signal(leader.family(), 'SIGCONT'),
  ),
};
