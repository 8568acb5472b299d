import { join } from 'node:path';
import type { main } from '../../src/cli/main.ts';
import { addMigration, type Build, buildOf, copyOfBuild, lastCommitOf } from '../support/process/builds.ts';
import { type Fault, lengthenTokens } from './planted.ts';

/** Of the first release. */
const FIRST_SCHEMA = 8;
const EXPAND = 'alter table clients add column made integer not null default 1';
const CONTRACT = 'alter table clients drop column made';

export interface Release {
  readonly executable: string;
  readonly main: typeof main;
  /** Whether operators may lower an authorization. */
  readonly lowers: boolean;
}

export type Releases = Awaited<ReturnType<typeof buildReleases>>;

/**
 * Builds that follow each other: one of this repository's history, this one, a later one whose migration adds a column, and one whose
 * migration removes it. Each serves beside the next. `first` is undefined where the history doesn't reach so far.
 */
export async function buildReleases(fault: Fault | undefined, needsFirst: boolean) {
  const commit = needsFirst ? lastCommitOf(FIRST_SCHEMA) : undefined;
  const builds = {
    first: commit === undefined ? undefined : buildOf(commit),
    current: copyOfBuild(),
    expanded: copyOfBuild(EXPAND),
    contracted: copyOfBuild(EXPAND),
  };
  addMigration(builds.contracted.folder, 'contract', CONTRACT);
  if (fault === 'longTokens') lengthenTokens(builds.current.folder);
  return {
    first: builds.first && (await releaseOf(builds.first, false)),
    current: await releaseOf(builds.current),
    expanded: await releaseOf(builds.expanded),
    contracted: await releaseOf(builds.contracted),
    remove: () => {
      for (const build of Object.values(builds)) build?.remove();
    },
  };
}

async function releaseOf({ folder, executable }: Build, lowers = true): Promise<Release> {
  const { main } = await import(join(folder, 'dist/cli/main.js'));
  return { executable, main, lowers };
}
