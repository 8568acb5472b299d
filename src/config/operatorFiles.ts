import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FileError } from '../rules/common/operatorFile.ts';
import { type Brand, logoNameIn, parseBrand } from '../rules/face/brand.ts';
import { checkLogo, type Logo, MAX_LOGO_BYTES } from '../rules/face/logo.ts';
import { hexOf, sha256 } from '../secrets/digest.ts';

// Files written by the operator. Each is read whole, once; no other file is read.

const MAX_FILE_BYTES = 64 * 1024;
/** Size of a directory with about 50,000 names. */
export const MAX_TARGET_NAMES_BYTES = 4 * 1024 * 1024;

/** @param file absolute; its logo is relative to it @throws {FileError} with all mistakes of the file and its logo */
export function readBrand(file: string): Brand {
  const json = readText(file);
  const logoName = logoNameIn(json);
  const problems: string[] = [];
  const brand = collectProblems(problems, () => parseBrand(json));
  const readOwn = (name: string) => readLogo(resolve(dirname(file), name));
  const worded = (problem: string) => `logo ${logoName} ${problem}`;
  const logo = logoName === null ? null : collectProblems(problems, () => readOwn(logoName), worded);
  if (brand === undefined || logo === undefined) throw new FileError(problems);
  return { ...brand, logo: logo && { ...logo, path: `/oauth/brand/logo-${logo.file}` } };
}

/** Adds the {@link FileError} of `read` to `problems`, reworded. @returns the content; undefined after an error */
export function collectProblems<Content>(
  problems: string[],
  read: () => Content,
  worded = (problem: string) => problem,
): Content | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    problems.push(...error.problems.map(worded));
    return undefined;
  }
}

/** @throws {FileError} if unreadable, or not an allowed picture */
export function readLogo(file: string): Logo {
  return parseLogo(readBytes(file, MAX_LOGO_BYTES));
}

export function parseLogo(body: Buffer): Logo {
  const kind = checkLogo(body);
  return { file: `${hexOf(sha256(body)).slice(0, 32)}.${kind}`, body };
}

/** @throws {FileError} if unreadable */
export function readText(file: string, maxBytes = MAX_FILE_BYTES): string {
  const bytes = readBytes(file, maxBytes);
  if (!isUtf8(bytes)) throw new FileError(['is not in UTF-8']);
  return new TextDecoder().decode(bytes); // leaves out a byte order mark
}

function readBytes(file: string, maxBytes: number): Buffer {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new FileError(['is not a regular file']);
    if (stats.size > maxBytes)
      throw new FileError([`has ${stats.size} bytes, more than the maximum of ${maxBytes}`]);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError([`can't be read: ${(error as NodeJS.ErrnoException).code}`]);
  }
}
