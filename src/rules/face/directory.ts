import { z } from 'zod';
import { MAX_NAME_CHARACTERS, MAX_SCOPE_TEXT_CHARACTERS } from '../common/limits.ts';
import { parseOperatorFile } from '../common/operatorFile.ts';
import { type PerLanguage, perLanguage } from '../common/perLanguage.ts';
import { findInvisibleCharacter } from '../common/text.ts';
import type { Right } from '../scope/scope.ts';

/** The names of shops and accounts, by their ids exactly as in a scope. */
export type TargetNames = Readonly<Record<'shop' | 'account', ReadonlyMap<string, PerLanguage>>>;

export const NO_TARGET_NAMES: TargetNames = { shop: new Map(), account: new Map() };

const isTarget = (text: string) =>
  text !== '' && [...text].length <= MAX_SCOPE_TEXT_CHARACTERS && findInvisibleCharacter(text) === undefined;
const NO_TARGET = `can't be in a scope: it must have 1 to ${MAX_SCOPE_TEXT_CHARACTERS} visible characters`;
const names = z
  .record(
    z.string().refine(isTarget, NO_TARGET),
    perLanguage(MAX_NAME_CHARACTERS),
    'must be an object that maps numbers to names',
  )
  .default({});

const DIRECTORY = z.strictObject(
  { shops: names, accounts: names },
  'must be an object with shops and accounts',
);

/** Parses an operator's directory: `shops` and `accounts`, each by number. @throws {FileError} with all its mistakes */
export function parseTargetNames(json: string): TargetNames {
  const { shops, accounts } = parseOperatorFile(DIRECTORY, json);
  // Objects have inherited names, such as `constructor`.
  return { shop: new Map(Object.entries(shops)), account: new Map(Object.entries(accounts)) };
}

/** Null without an operator's name, and for phone numbers and email addresses. */
export function nameOfTarget(directory: TargetNames, { target, type }: Right): PerLanguage | null {
  if (target === undefined || type === 'phone' || type === 'email') return null;
  return directory[type ?? 'shop'].get(target) ?? null;
}
