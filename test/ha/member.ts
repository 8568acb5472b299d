import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { descendants, processesOf } from '../support/process/launch.ts';
import { PATH } from '../support/process/program.ts';

export interface Common {
  readonly programs: Readonly<Record<'patroni' | 'postgres', string>>;
  /** Where data and logs are; PostgreSQL's user may write there. */
  readonly folder: string;
  readonly etcdPort: number;
  readonly passwords: { readonly superuser: string; readonly replication: string; readonly rewind: string };
  readonly runAs: { readonly uid: number; readonly gid: number };
}

const SETTINGS = fileURLToPath(new URL('patroni.yml', import.meta.url));
const HOST = '127.0.0.1';

/** A machine of the cluster, here some processes: Patroni, and the PostgreSQL that it runs. */
export class Member {
  readonly machine: Readonly<{ name: string; port: number; restPort: number }>;
  readonly #common: Common;
  #patroni: ChildProcess | undefined;

  constructor(machine: Member['machine'], common: Common) {
    this.machine = machine;
    this.#common = common;
  }

  start(): void {
    const { programs, folder, runAs, etcdPort, passwords } = this.#common;
    const { name, port, restPort } = this.machine;
    const env = {
      PATH,
      LC_ALL: 'C',
      HOME: folder,
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: `${HOST}:${etcdPort}`,
      PATRONI_RESTAPI_LISTEN: `${HOST}:${restPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${HOST}:${restPort}`,
      PATRONI_POSTGRESQL_LISTEN: `${HOST}:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${HOST}:${port}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(folder, name),
      PATRONI_POSTGRESQL_BIN_DIR: programs.postgres,
      PATRONI_POSTGRESQL_PGPASS: join(folder, `${name}.pgpass`),
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: passwords.replication,
      PATRONI_REWIND_USERNAME: 'rewinder',
      PATRONI_REWIND_PASSWORD: passwords.rewind,
    };
    const log = openSync(join(folder, `${name}.log`), 'a');
    const options = { ...runAs, cwd: folder, env };
    this.#patroni = spawn(programs.patroni, [SETTINGS], { ...options, stdio: ['ignore', log, log] });
    closeSync(log);
  }

  patroni(): number | undefined {
    const runs = this.#patroni?.exitCode === null && this.#patroni.signalCode === null;
    return runs ? this.#patroni?.pid : undefined;
  }

  /** PostgreSQL's processes, the postmaster first. */
  postgres(): number[] {
    const [postmaster] = processesOf(`postgres -D ${join(this.#common.folder, this.machine.name)} `);
    return postmaster === undefined ? [] : [postmaster, ...descendants(postmaster)];
  }

  /** All its processes: what a machine without power, or a frozen one, takes along. */
  family(): number[] {
    const patroni = this.patroni();
    const own = patroni === undefined ? [] : [patroni, ...descendants(patroni)];
    return [...new Set([...own, ...this.postgres()])];
  }
}
