import * as audit from './audit.ts';
import * as clients from './clients.ts';
import * as doctor from './doctor.ts';
import * as explain from './explain.ts';
import * as grants from './grants.ts';
import * as imports from './import/imports.ts';
import * as maintain from './maintain.ts';
import type { AnyOperation } from './operation.ts';
import * as resources from './resources.ts';
import * as users from './users.ts';

const isOperation = (exported: unknown): exported is AnyOperation =>
  typeof exported === 'object' && exported !== null && 'effect' in exported;

/** Every operation that a surface for operators offers. */
export const OPERATIONS: readonly AnyOperation[] = [
  clients,
  users,
  resources,
  grants,
  imports,
  audit,
  explain,
  doctor,
  maintain,
].flatMap((subject) => Object.values<unknown>(subject).filter(isOperation));
