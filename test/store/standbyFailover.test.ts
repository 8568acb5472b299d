import { expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { Positions } from '../../src/store/database/position.ts';
import { explainUnfit, openStandbys, type Standby } from '../../src/store/database/standby.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { type Host, startReplication } from '../support/replication.ts';

const whyUnfit = (standby: Standby) => standby.check().then(() => null, explainUnfit);

it('after a failover a standby answers for the new primary, once its control file says that it follows that', async () => {
  const replication = await startReplication(['a', 'b']);
  const [a, b] = replication.standbys as [Host, Host];
  const [old, next] = [openDatabase(replication.primary.url()), openDatabase(a.url())];
  const [standby] = openStandbys(b.url(), null, new Positions(next, 0)) as [Standby];
  try {
    await migrate(old);
    await replication.caughtUp();
    await old.end();
    await replication.primary.stop();
    await a.run('select pg_promote()');
    b.follow(a.folder, 'b');
    await b.run('select pg_reload_conf()');
    const behind = `pg_last_wal_replay_lsn() < '${await a.value('pg_current_wal_flush_lsn()')}'`;
    await expect.poll(() => b.value(behind)).toBe(false);
    expect(await whyUnfit(standby)).toBe('it follows timeline 1, and the primary is on 2');
    await b.run('checkpoint');
    expect(await whyUnfit(standby)).toBeNull();
  } finally {
    await Promise.all([next.end(), standby.pool.end()]);
    await replication.remove();
  }
});
