import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Programs {
  readonly patroni: string;
  readonly postgres: string;
}

const DEBIANS = '/usr/lib/postgresql';

/** Debian keeps HAProxy where only root's path leads. */
export const PATH = `${process.env.PATH}:/usr/sbin`;

function run(program: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync(program, args, { env: { PATH }, encoding: 'utf8' });
  return status === 0 ? stdout : null;
}

/** Debian's PostgreSQL: the embedded one has no pg_basebackup and no pg_rewind. */
function findPostgres(): string | null {
  const versions = existsSync(DEBIANS) ? readdirSync(DEBIANS) : [];
  const folder = join(DEBIANS, String(Math.max(...versions.map(Number))), 'bin');
  return existsSync(join(folder, 'pg_rewind')) ? folder : null;
}

export function findPrograms({ PATRONI = 'patroni' } = process.env): Programs {
  const postgres = findPostgres();
  const [, major] = /patroni (\d+)/.exec(run(PATRONI, '--version') ?? '') ?? [];
  const install = `python3 -m venv DIR && DIR/bin/pip install 'patroni[etcd3,psycopg3]>=4' 'psycopg[binary]'`;
  const needs: readonly (readonly [isThere: boolean, what: string])[] = [
    [postgres !== null, 'PostgreSQL (apt-get install postgresql)'],
    [run('etcd', '--version') !== null, 'etcd (apt-get install etcd-server)'],
    [run('haproxy', '-v') !== null, 'HAProxy (apt-get install haproxy)'],
    [Number(major) >= 4, `Patroni 4 or newer (${install}, then PATRONI=DIR/bin/patroni)`], // see patroni#2689
    [process.getuid?.() === 0, 'root, who runs PostgreSQL as its own user'],
  ];
  const missing = needs.filter(([isThere]) => !isThere).map(([, what]) => what);
  if (postgres === null || missing.length > 0) throw new Error(`a cluster needs ${missing.join(', ')}`);
  return { patroni: PATRONI, postgres };
}
