import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnPostgres } from '../../support/postgres/ownPostgres.ts';
import type { Faults, Place } from '../faults.ts';
import { losing } from './make.ts';

// A small file system in memory holds the data, and a file takes all the room that is left.

const ROOM_MB = 48;
const FILLER = 'filler';

function whyNoSmallDisk(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can mount a small disk';
  const folder = mkdtempSync('/tmp/assent-disk-');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return null;
  } catch {
    return 'this machine does not let root mount a small disk';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function moveToSmallDisk(cluster: string): void {
  const megabytes = Number(execFileSync('du', ['-sm', cluster], { encoding: 'utf8' }).split('\t')[0]);
  const { uid, gid } = statSync(cluster);
  renameSync(cluster, `${cluster}.aside`);
  execFileSync('install', ['-d', '-m', '700', '-o', `${uid}`, '-g', `${gid}`, cluster]);
  const options = `size=${megabytes + ROOM_MB}m,mode=700,uid=${uid},gid=${gid}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', cluster]);
  execFileSync('cp', ['-a', `${cluster}.aside/.`, cluster]);
  rmSync(`${cluster}.aside`, { recursive: true });
}

function moveBack(cluster: string): void {
  execFileSync('cp', ['-a', cluster, `${cluster}.aside`]);
  execFileSync('umount', [cluster]);
  rmSync(cluster, { recursive: true });
  renameSync(`${cluster}.aside`, cluster);
}

function fill(cluster: string): void {
  for (const size of [1_048_576, 4_096]) {
    try {
      for (;;) writeFileSync(join(cluster, FILLER), Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

async function whileStopped(postgres: OwnPostgres, work: (cluster: string) => void): Promise<void> {
  await postgres.stop();
  work(postgres.cluster);
  await postgres.start();
}

export const DISK_FAULTS: Faults = { diskFull: { ...losing(runFull), whyNot: whyNoSmallDisk } };

/** There is no room for tables, and then for WAL; then there is room again, and PostgreSQL starts if it has ended. */
async function runFull({ site, home: { postgres }, hold }: Place): Promise<void> {
  await whileStopped(postgres, moveToSmallDisk);
  try {
    await hold(0.2);
    fill(postgres.cluster);
    await hold(0.5);
    // Tables can't grow by now. Without room for WAL PostgreSQL ends: with a new file of it, at once.
    await site.ask((client) => client.query('select pg_switch_wal()')).catch(() => undefined);
    await hold(0.5);
  } finally {
    rmSync(join(postgres.cluster, FILLER), { force: true });
    if (!postgres.runs()) await postgres.start();
    await hold(0.3);
    await whileStopped(postgres, moveBack);
  }
}
