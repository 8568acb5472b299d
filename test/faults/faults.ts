import { DISK_FAULTS } from './faults/disk.ts';
import { LOCK_FAULTS } from './faults/locks.ts';
import { NETWORK_FAULTS } from './faults/network.ts';
import { POSTGRES_FAULTS } from './faults/postgres.ts';
import { REPLICA_FAULTS } from './faults/replicas.ts';
import type { EmbeddedHome, Home, Site } from './site.ts';

/** Waits as long as the fault is to last, or for a share of it. */
export type Hold = (share?: number) => Promise<void>;

export interface Place<PlacesHome extends Home = EmbeddedHome> {
  readonly site: Site;
  readonly home: PlacesHome;
  readonly hold: Hold;
}

/** It is over when `happen` resolves: then all must recover without help. */
export interface Fault<PlacesHome extends Home = EmbeddedHome> {
  /** Answers of PostgreSQL are lost or late: a 503 may be done all the same (docs/operate/503.md). */
  readonly losesAnswers?: true;
  whyNot?(): string | null;
  happen(place: Place<PlacesHome>): Promise<void>;
}

export type Faults<PlacesHome extends Home = EmbeddedHome> = Readonly<Record<string, Fault<PlacesHome>>>;

/** Those of an embedded PostgreSQL; those of a cluster are in `test/ha`. */
export const FAULTS: Faults = {
  none: { happen: ({ hold }) => hold() },
  ...REPLICA_FAULTS,
  ...POSTGRES_FAULTS,
  ...NETWORK_FAULTS,
  ...LOCK_FAULTS,
  ...DISK_FAULTS,
};
