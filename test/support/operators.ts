import type pg from 'pg';
import type { z } from 'zod';
import * as clients from '../../src/operations/clients.ts';
import { revoke } from '../../src/operations/grants.ts';
import { type OperationContext, perform } from '../../src/operations/operation.ts';
import * as resources from '../../src/operations/resources.ts';
import * as users from '../../src/operations/users.ts';
import { OperatorError } from '../../src/rules/common/error.ts';

// The operations that tests ask for most, without questions; null for what is not there.

export type NewClient = z.input<typeof clients.create.input>;
type Passwords = Omit<z.input<typeof users.setPassword.input>, 'login'>;
type Change = Omit<z.input<typeof clients.update.input>, 'clientId'>;
type Status = 'active' | 'blocked';
const verbFor = <Verb>(status: Status, { block, unblock }: { block: Verb; unblock: Verb }) =>
  status === 'blocked' ? block : unblock;

const orNull = (error: unknown) => {
  if (error instanceof OperatorError && error.reason === 'not_found') return null;
  throw error;
};

export const changeClient = (db: pg.Pool, clientId: string, change: Change, operator: string) =>
  perform(clients.update, { db, operator: { name: operator } }, { clientId, ...change });

/** Agrees to what an operation would take away for good. */
export const agree = async () => {};

type Caller = Pick<OperationContext, 'db' | 'operator'> & Partial<OperationContext>;

/** @returns how many were live */
export const revokeGrantsOf = async (caller: Caller, which: { login?: string; clientId?: string }) =>
  (await perform(revoke, { confirm: agree, ...caller }, which)).revoked;

export const registerResource = (db: pg.Pool, name: string, operator: string) =>
  perform(resources.create, { db, operator: { name: operator } }, { name });

export const setPasswords = (db: pg.Pool, login: string, passwords: Passwords, operator: string) =>
  perform(users.setPassword, { db, operator: { name: operator } }, { login, ...passwords }).catch(orNull);

export const setUserStatus = (db: pg.Pool, login: string, status: Status, operator: string) =>
  perform(verbFor(status, users), { db, operator: { name: operator } }, { login }).catch(orNull);

export const signOutUser = (db: pg.Pool, login: string, operator: string) =>
  perform(users.signOut, { db, operator: { name: operator } }, { login });

export const removeUser = (db: pg.Pool, login: string, operator: string) =>
  perform(users.remove, { db, operator: { name: operator }, confirm: agree }, { login });

export const removeResource = (db: pg.Pool, resourceId: string, operator: string) =>
  perform(resources.remove, { db, operator: { name: operator }, confirm: agree }, { resourceId }).catch(
    orNull,
  );

export const setResourceStatus = (db: pg.Pool, resourceId: string, status: Status, operator: string) =>
  perform(verbFor(status, resources), { db, operator: { name: operator } }, { resourceId }).catch(orNull);

export const setClientStatus = (db: pg.Pool, clientId: string, status: Status, operator: string) =>
  perform(verbFor(status, clients), { db, operator: { name: operator } }, { clientId }).catch(orNull);
