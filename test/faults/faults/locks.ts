import { runAssent } from '../../support/process/process.ts';
import type { Faults, Place } from '../faults.ts';
import { repeat } from './make.ts';

const held =
  (statement: string) =>
  ({ site, hold }: Place) =>
    site.ask(async (client) => {
      await client.query('begin');
      await client.query(statement);
      await hold();
      await client.query('rollback');
    });

export const LOCK_FAULTS: Faults = {
  lockedRows: {
    happen: held(`select from (select user_id from users limit 2 for update) u,
      lateral (select from grants where user_id = u.user_id for update) g`),
  },
  lockedTable: { happen: held('lock table grants in access exclusive mode') },
  lockedTrail: { happen: held('lock table audit_events in share mode') },
  migration: {
    /** A schema change holds its tables in a transaction, and `assent migrate` runs beside. */
    async happen(place) {
      const variables = { DATABASE_URL: place.home.ownerUrl };
      const migrates = repeat(place, 4, () =>
        runAssent(['migrate', '--server-role', 'assent_server'], variables),
      );
      await held('alter table grants add column beside integer')(place);
      await migrates;
    },
  },
  vacuumFull: {
    happen: (place) =>
      place.site.ask((client) =>
        repeat(place, 5, async () => {
          await client.query('vacuum full grants');
          await client.query('vacuum full sessions');
        }),
      ),
  },
};
