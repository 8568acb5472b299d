import { z } from 'zod';
import { MAX_NAME_CHARACTERS, MAX_SCOPE_TEXT_CHARACTERS } from '../common/limits.ts';
import { parseOperatorFile } from '../common/operatorFile.ts';
import { type PerLanguage, perLanguage } from '../common/perLanguage.ts';
import { findUnclear } from '../common/text.ts';
import type { Right } from '../scope/scope.ts';

/** The names of shops and accounts. */
export interface Directory {
  /** @returns null for an unknown one @param id exactly as in a scope */
  nameOf(kind: 'shop' | 'account', id: string): PerLanguage | null;
}

/** A number or another text of a scope. */
const id = z
  .string()
  .refine(
    (text) => text !== '' && [...text].length <= MAX_SCOPE_TEXT_CHARACTERS && findUnclear(text) === undefined,
    `can't be in a scope: 1 to ${MAX_SCOPE_TEXT_CHARACTERS} visible characters`,
  );
const names = z
  .record(id, perLanguage(MAX_NAME_CHARACTERS), 'must be an object of names by number')
  .default({});

const DIRECTORY = z.strictObject(
  { shops: names, accounts: names },
  'must be an object with shops and accounts',
);

/** Parses an operator's directory: `shops` and `accounts`, each by number. @throws {FileError} with all its mistakes */
export function parseDirectory(json: string): Directory {
  const { shops, accounts } = parseOperatorFile(DIRECTORY, json);
  // Objects have inherited names, such as `constructor`.
  const byKind = { shop: new Map(Object.entries(shops)), account: new Map(Object.entries(accounts)) };
  return { nameOf: (kind, id) => byKind[kind].get(id) ?? null };
}

/** Null without an operator's name, and for phone numbers and email addresses. */
export function nameOfTarget(directory: Directory, { target, type }: Right): PerLanguage | null {
  if (target === undefined || type === 'phone' || type === 'email') return null;
  return directory.nameOf(type ?? 'shop', target);
}

export const EMPTY_DIRECTORY: Directory = { nameOf: () => null };
