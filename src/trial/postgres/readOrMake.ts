import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Reads a file, or links a finished draft: it is always whole, and the first of several processes makes it for all. */
export function readOrMake(file: string, make: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, make(), { mode: 0o600 });
    linkSync(draft, file);
  } catch (error) {
    if (!hasErrnoCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8');
}

/** Makes a missing folder by renaming a finished draft: it is always whole, and the first of several processes wins. */
export async function makeFolder(folder: string, fill: (draft: string) => unknown): Promise<void> {
  if (existsSync(folder)) return;
  const draft = mkdtempSync(`${folder}.new-`);
  try {
    await fill(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!hasErrnoCode(error, 'EEXIST', 'ENOTEMPTY')) throw error;
  }
}

/** True for a system call that failed with one of these codes (`ENOENT`, `EEXIST`, …). */
export function hasErrnoCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
