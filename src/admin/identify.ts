import type { FileOperator } from '../rules/account/operatorsFile.ts';
import { checkOperatorName } from '../rules/account/registration.ts';
import { OperatorError } from '../rules/common/error.ts';
import { type Digest, hexOf, sha256 } from '../secrets/digest.ts';
import { isOperatorToken } from '../secrets/tokens.ts';
import { findOperatorByToken, findOperators } from '../store/operate/operators.ts';
import type { AdminDependencies } from './handle.ts';

export type FoundOperator = FileOperator & { readonly status: string };

/** @param token empty for none @throws {OperatorError} why there is no operator (RFC 6750 section 3.1) */
export async function authenticate(token: string, dependencies: AdminDependencies): Promise<FoundOperator> {
  if (token === '')
    throw new OperatorError('no_operator', 'Send an operator’s token as Authorization: Bearer.');
  const operator = isOperatorToken(token) ? await findOperator(sha256(token), dependencies) : null;
  if (operator?.status === 'active') return operator;
  throw new OperatorError('invalid_token', `The operator token is ${operator?.status ?? 'unknown'}.`);
}

/** In the file, then in the table. */
export async function findOperator(
  tokenHash: Digest,
  { db, fileOperators }: AdminDependencies,
): Promise<FoundOperator | null> {
  const inFile = fileOperators().get(hexOf(tokenHash));
  const inTable = await findOperatorByToken(db, { tokenHash, name: inFile?.name ?? null });
  if (inFile === undefined) return inTable;
  // The trail would mix two operators of one name.
  if (inTable?.status === 'active')
    return { ...inFile, status: 'refused: the database has its name or token, too' };
  const isOver = inFile.expiresAt !== null && inFile.expiresAt <= new Date();
  return { ...inFile, status: isOver ? 'expired' : 'active' };
}

/** @throws {OperatorError} for a name that a command or an operator with a token has, or resembles: the trail would mix them */
export async function requireOwnName(name: string, { db, fileOperators, commandNames }: AdminDependencies) {
  const inTable = (await findOperators(db)).filter(({ status }) => status === 'active');
  const others = [...fileOperators().values(), ...inTable].map((one) => one.name);
  if (others.includes(name))
    throw new OperatorError('refused_value', `An operator with a token is called ${name}.`);
  checkOperatorName(name, others, commandNames);
}
