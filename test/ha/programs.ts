import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { versionOf } from '../support/process/program.ts';

/** Debian's PostgreSQL: the embedded one has no pg_basebackup and no pg_rewind. */
const DEBIANS = '/usr/lib/postgresql';

export function findPrograms({ PATRONI = 'patroni' } = process.env) {
  const versions = existsSync(DEBIANS) ? readdirSync(DEBIANS) : [];
  const postgres = join(DEBIANS, String(Math.max(...versions.map(Number))), 'bin');
  const patroni = versionOf([PATRONI, '--version'], /patroni (\d+)/);
  const install = `python3 -m venv DIR && DIR/bin/pip install 'patroni[etcd3,psycopg3]>=4' 'psycopg[binary]'`;
  const missing = Object.entries({
    'PostgreSQL (apt-get install postgresql)': existsSync(join(postgres, 'pg_rewind')),
    'etcd (apt-get install etcd-server)': versionOf(['etcd', '--version']),
    'HAProxy (apt-get install haproxy)': versionOf(['haproxy', '-v']),
    [`Patroni 4 or newer (${install}, then PATRONI=DIR/bin/patroni)`]: Number(patroni) >= 4, // see patroni#2689
    'root, who runs PostgreSQL as its own user': process.getuid?.() === 0,
  }).flatMap(([what, isThere]) => (isThere ? [] : what));
  if (missing.length > 0) throw new Error(`a cluster needs ${missing.join(', ')}`);
  return { patroni: PATRONI, postgres };
}
