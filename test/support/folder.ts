import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A `DATA_DIR` of one's own. */
export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'assent-test-'));
}

/** Removes a `DATA_DIR` that nobody uses any more, and the cluster that root's is kept outside of it. */
export function removeDataDir(dataDir: string): void {
  const location = join(dataDir, 'postgres.location');
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8').trim(), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
