import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT, fileIn, readFile } from './folder.ts';

// Builds of other schema versions, each in a folder of its own: this one with one more migration, and earlier ones from the
// history of the checkout.

const INVARIANTS = 'deploy/postgresql/invariants.sql';
const BUILT = ['bin', 'dist', 'migrations', 'views', INVARIANTS, 'package.json'];
const PARTS = [
  'bin',
  'src',
  'migrations',
  'views',
  'examples',
  'demo/texts',
  INVARIANTS,
  'package.json',
  'tsconfig.json',
];

export type Build = ReturnType<typeof buildIn>;

/** This build. @param sql of one more migration, on whose schema this build can serve */
export function copyOfBuild(sql?: string): Build {
  const folder = emptyFolder();
  for (const part of BUILT) cpSync(join(CHECKOUT, part), join(folder, part), { recursive: true });
  if (sql !== undefined) addMigration(folder, 'made', sql);
  return buildIn(folder);
}

/** Another migration in a checkout, on whose schema the build before can serve. @returns its file */
export function addMigration(checkout: string, name: string, sql: string): string {
  const folder = join(checkout, 'migrations');
  const version = versionOf(readdirSync(folder));
  const content = `-- Serves builds from schema version ${version} on.\n${sql};\n`;
  return fileIn(folder, `${String(version + 1).padStart(4, '0')}_${name}.sql`, content);
}

/** Beside them stand the schema that they make, and what must be true of all rows. */
const isMigration = (file: string) => /\b\d{4}_\w+\.sql$/.test(file);
const versionOf = (files: readonly string[]) => files.filter(isMigration).length;

/** Which builds the newest migration says that it serves, by their schema version. */
export function oldestServed(): number {
  const newest = readdirSync(join(CHECKOUT, 'migrations')).filter(isMigration).toSorted().at(-1) ?? '';
  const text = readFile(`migrations/${newest}`);
  const [, oldest] = /^-- Serves builds from schema version (\d+) on\./.exec(text) ?? [];
  if (oldest === undefined) throw new Error(`migrations/${newest} doesn't say which builds it serves`);
  return Number(oldest);
}

/** The last commit whose schema has this version; undefined where the history does not reach so far. */
export function lastCommitOf(schemaVersion: number): string | undefined {
  try {
    const touched = git('rev-list', '--first-parent', 'HEAD', '--', 'migrations').split('\n');
    const candidates = ['HEAD', ...touched.map((commit) => `${commit}^1`)];
    return candidates.find((commit) => versionAt(commit) === schemaVersion);
  } catch {
    return undefined; // no git, no history, or one that was cut off
  }
}

function versionAt(commit: string): number {
  return versionOf(git('ls-tree', '--name-only', commit, 'migrations/').split('\n'));
}

export function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: CHECKOUT, encoding: 'utf8', stdio: 'pipe' }).trim();
}

export function buildOf(commit: string): Build {
  const folder = emptyFolder();
  const parts = git('ls-tree', '--name-only', commit, ...PARTS).split('\n'); // the earliest have no demo
  const archive = execFileSync('git', ['archive', commit, ...parts], { cwd: CHECKOUT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  execFileSync(process.execPath, [join(CHECKOUT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  return buildIn(folder);
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assent-build-'));
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const buildIn = (folder: string) => ({
  folder,
  executable: join(folder, 'bin/assent.js'),
  remove: () => rmSync(folder, { recursive: true }),
});
