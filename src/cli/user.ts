import { Option } from 'commander';
import type pg from 'pg';
import { countLiveGrants } from '../flows/operators/grants.ts';
import {
  findUserByLogin,
  listUsers,
  registerUser,
  removeUser,
  setPasswords,
  setUserStatus,
  signOutUser,
  type User,
  type UserFilter,
} from '../flows/operators/users.ts';
import { type CommandTable, required } from './addCommands.ts';
import { statusSentence } from './blocking.ts';
import { confirmRevoking, YES } from './confirm.ts';
import { found, printList, printOne, report, showProgress } from './output.ts';
import { askPasswords, PASSWORD_OPTIONS, type PasswordOptions } from './passwords.ts';
import { LIMIT } from './readOption.ts';
import { withStore } from './withStore.ts';

/** `assent user …`: the people who sign in */
export const USER_COMMANDS: CommandTable = {
  user: ['create, list, block, sign out and delete users, and set their passwords'],
  'user create <login>': [
    'create a user; asks for the passwords, and does not show them',
    create,
    ...PASSWORD_OPTIONS,
    required('--name <name>', 'the name that pages show'),
  ],
  'user list': [
    'list the users, in the order of their logins',
    list,
    new Option('--after <login>', 'only those behind this one'),
    new Option('--login <text>', 'only those with this in their login'),
    new Option('--name <text>', 'only those with this in their name'),
    LIMIT,
  ],
  'user show <login>': ['show a user', show],
  'user block <login>': [
    'block a user: end the sessions, refuse sign-ins, codes and tokens until the user is unblocked',
    (login: string) => setStatus(login, 'blocked'),
  ],
  'user unblock <login>': [
    'let a blocked user sign in again; tokens that were not revoked work again',
    (login: string) => setStatus(login, 'active'),
  ],
  'user sign-out <login>': ['end a user’s sessions; what the user has allowed stays', signOut],
  'user set-password <login>': [
    'set a new password, and a new payment password if one is given; end the user’s sessions',
    setPassword,
    ...PASSWORD_OPTIONS,
  ],
  'user delete <login>': [
    'erase a user with sessions and authorizations; the audit trail keeps the user’s id',
    remove,
    YES,
  ],
};

async function create(login: string, options: PasswordOptions & { name: string }): Promise<void> {
  const user = { login, name: options.name, ...(await askPasswords(options)) };
  const userId = await withStore((db, operator) => registerUser(db, user, operator));
  printOne({ userId, login });
}

async function list(filter: UserFilter): Promise<void> {
  await withStore((db) => printList(listUsers(db, filter), (page) => page.map(rowOf), 'no users'));
}

async function show(login: string): Promise<void> {
  printOne(rowOf(await withStore((db) => requireUser(db, login))));
}

async function setPassword(login: string, options: PasswordOptions): Promise<void> {
  const passwords = await askPasswords(options);
  const changed = await withStore((db, operator) => setPasswords(db, login, passwords, operator));
  const { userId } = found(changed, 'user', login);
  report({ userId, login, done: 'password_set' }, `the password of ${login} is changed`);
}

async function signOut(login: string): Promise<void> {
  const ended = await withStore((db, operator) => signOutUser(db, login, operator));
  const { userId } = found(ended, 'user', login);
  report({ userId, login, done: 'signed_out' }, `${login} is signed out everywhere`);
}

async function setStatus(login: string, status: User['status']): Promise<void> {
  const set = await withStore((db, operator) => setUserStatus(db, login, status, operator));
  const { userId, changed } = found(set, 'user', login);
  report({ userId, login, status }, statusSentence(login, status, changed));
}

async function remove(login: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const removed = await withStore(async (db, operator) => {
    const { userId } = await requireUser(db, login);
    if (!yes)
      await confirmRevoking(await countLiveGrants(db, { userId }), `erase the user ${login} for good and `);
    return removeUser(db, login, operator, showProgress);
  });
  const { userId, revoked } = found(removed, 'user', login);
  report({ userId, status: 'deleted', revoked }, `deleted ${userId}; authorizations revoked: ${revoked}`);
}

/** Without the hashes of the passwords. */
function rowOf({ userId, login, name, status }: User) {
  return { userId, login, name, status };
}

/** The user that a command names. @throws {NotFoundError} */
export async function requireUser(db: pg.Pool, login: string): Promise<User> {
  return found(await findUserByLogin(db, login), 'user', login);
}
