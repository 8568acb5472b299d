import { z } from 'zod';
import { FileError, parseOperatorFile, placeOf } from '../common/operatorFile.ts';
import { checkOperatorName } from './registration.ts';
import { ACCESS_LEVELS, type AccessLevel } from './role.ts';

export interface FileOperator {
  readonly name: string;
  readonly role: AccessLevel;
  /** Null if its tokens have no end. */
  readonly expiresAt: Date | null;
}

/** By the SHA-256 of each token, in hex. */
export type FileOperators = ReadonlyMap<string, FileOperator>;

const HASHES = 'must be a list of SHA-256, each in 64 lower-case hex digits';
const OPERATOR = z.strictObject(
  {
    role: z.enum(ACCESS_LEVELS, `must be one of ${ACCESS_LEVELS.join(', ')}`),
    token_sha256: z.array(z.string(HASHES).regex(/^[\da-f]{64}$/, HASHES), HASHES),
    expires_at: z.iso
      .datetime({ offset: true, error: 'must be a time such as 2027-03-01T00:00:00Z' })
      .optional(),
  },
  'must be an object with role and token_sha256',
);
const OPERATORS = z.record(z.string(), OPERATOR, 'must be an object that maps names to operators');

/** Parses an operator's `OPERATORS_FILE`. @throws {FileError} */
export function parseOperators(json: string, commandName = ''): FileOperators {
  const operators = Object.entries(parseOperatorFile(OPERATORS, json));
  const names = operators.map(([name]) => name);
  const byHash = new Map<string, FileOperator>();
  const problems: string[] = [];
  for (const [name, { role, token_sha256, expires_at }] of operators) {
    try {
      checkOperatorName(name, names, [commandName]);
    } catch (error) {
      problems.push((error as Error).message.replace('the name', () => placeOf([name])));
    }
    const operator = { name, role, expiresAt: expires_at ? new Date(expires_at) : null };
    for (const hash of token_sha256) {
      if (byHash.has(hash))
        problems.push(`${placeOf([name, 'token_sha256'])} has a hash that is there twice`);
      byHash.set(hash, operator);
    }
  }
  if (problems.length > 0) throw new FileError(problems);
  return byHash;
}
