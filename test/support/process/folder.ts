import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';

export const CHECKOUT = resolve(import.meta.dirname, '../../..');

export const readFile = (name: string) => readFileSync(join(CHECKOUT, name), 'utf8');

export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'assent-test-'));
}

/** The folder in which the PostgreSQL of a `DATA_DIR` has its data; root's is kept outside of the `DATA_DIR`. */
export function clusterOf(dataDir: string): string {
  const pointer = join(dataDir, 'postgres.location');
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(dataDir, 'postgres');
}

export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(join(clusterOf(dataDir), 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
}

export function removeDataDir(dataDir: string): void {
  rmSync(clusterOf(dataDir), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

/** A folder of its own, removed after all tests, or after the one that runs with `onTestFinished`. */
export function useFolder(atTheEnd: (remove: () => void) => void = afterAll): string {
  const folder = makeDataDir();
  atTheEnd(() => removeDataDir(folder));
  return folder;
}

export function fileIn(folder: string, name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}
