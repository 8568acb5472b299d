import { z } from 'zod';
import { MAX_NAME_CHARACTERS, MAX_SCOPE_TEXT_CHARACTERS } from './limits.ts';
import { parseOperatorFile } from './operatorFile.ts';
import { type PerLanguage, perLanguage } from './perLanguage.ts';
import type { Right } from './scope.ts';
import { findUnclear } from './text.ts';

/** The names of those whom rights may pay. */
export interface Directory {
  /** @returns null for one that has none @param id exactly as a scope names it */
  nameOf(kind: 'shop' | 'account', id: string): PerLanguage | null;
}

const names = z
  .record(
    z.string().superRefine((id, context) => {
      if (id === '' || [...id].length > MAX_SCOPE_TEXT_CHARACTERS || findUnclear(id) !== undefined) {
        context.addIssue({
          code: 'custom',
          message: `can't be in a scope: 1 to ${MAX_SCOPE_TEXT_CHARACTERS} visible characters`,
        });
      }
    }),
    perLanguage(MAX_NAME_CHARACTERS),
    { error: ({ code }) => (code === 'invalid_type' ? 'must be an object of names by number' : undefined) },
  )
  .default({});

const DIRECTORY = z.strictObject(
  { shops: names, accounts: names },
  'must be an object with shops and accounts',
);

/**
 * Parses an operator's directory: `shops` and `accounts`, each an object from a number to a name.
 *
 * @throws {FileError} with all its mistakes
 */
export function parseDirectory(json: string): Directory {
  const { shops, accounts } = parseOperatorFile(DIRECTORY, json);
  // Objects have names of their own, such as `constructor`.
  const byKind = { shop: new Map(Object.entries(shops)), account: new Map(Object.entries(accounts)) };
  return { nameOf: (kind, id) => byKind[kind].get(id) ?? null };
}

/** The name of whom a right pays; null where the operator gave none, and for phone numbers and email addresses. */
export function nameOfTarget(directory: Directory, right: Right): PerLanguage | null {
  if (right.name === 'payment.to-pattern') return directory.nameOf('shop', right.pattern);
  const isAccount = right.name === 'payment.to-account' && right.type === 'account';
  return isAccount ? directory.nameOf('account', right.to) : null;
}

/** Without a `DIRECTORY`: nobody has a name. */
export const EMPTY_DIRECTORY: Directory = { nameOf: () => null };
