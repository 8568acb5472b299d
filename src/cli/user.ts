import type { Command } from 'commander';
import { blockUser, registerUser, setPasswords, signOutUser, unblockUser } from '../flows/register.ts';
import type { Database } from '../store/database.ts';
import { findUserByLogin, listUsers } from '../store/users.ts';
import { NotFoundError, type OutputOptions, printList, printOne } from './output.ts';
import { askPasswords } from './passwords.ts';
import { withStore } from './withStore.ts';

interface PasswordOptions {
  readonly passwordStdin?: boolean;
}

/** `assent user …`: the people who sign in */
export function userCommands(program: Command): void {
  const user = program.command('user').description('create and block users');
  const stdin = [
    '--password-stdin',
    'read the password from line 1 and the payment password, if any, from line 2',
  ] as const;

  user
    .command('create <login>')
    .description('create a user; asks for the passwords without showing them')
    .requiredOption('--name <name>', 'what the pages call the user')
    .option(...stdin)
    .option('--json', 'print JSON')
    .action(create);

  user
    .command('list')
    .description('list the users')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const users = await withStore(listUsers);
      printList(
        users.map(({ userId, login, name, status }) => ({ user_id: userId, login, name, status })),
        'no users',
        options,
      );
    });

  user
    .command('block <login>')
    .description('end the user’s sessions, and refuse codes and tokens until the user is unblocked')
    .action((login: string) => change(login, blockUser, 'blocked'));
  user
    .command('unblock <login>')
    .description('let the user sign in again; tokens that were not revoked work again')
    .action((login: string) => change(login, unblockUser, 'active'));
  user
    .command('sign-out <login>')
    .description('end the user’s sessions; what the user has allowed stays')
    .action((login: string) => change(login, signOutUser, 'signed out everywhere'));
  user
    .command('set-password <login>')
    .description('set a new password, and a new payment password if one is given; ends the user’s sessions')
    .option(...stdin)
    .action(setPassword);
}

async function create(
  login: string,
  options: OutputOptions & PasswordOptions & { name: string },
): Promise<void> {
  const { password, paymentPassword } = await askPasswords(options.passwordStdin ?? false);
  const userId = await withStore((db) =>
    registerUser(db, { login, name: options.name, password, paymentPassword }),
  );
  printOne({ user_id: userId, login }, options);
}

async function setPassword(login: string, options: PasswordOptions): Promise<void> {
  const passwords = await askPasswords(options.passwordStdin ?? false);
  if (!(await withStore((db) => setPasswords(db, login, passwords)))) throw noUser(login);
  console.error(`the password of ${login} is changed`);
}

async function change(login: string, verb: typeof blockUser, becomes: string): Promise<void> {
  if (!(await withStore((db) => verb(db, login)))) throw noUser(login);
  console.error(`${login} is ${becomes}`);
}

/** The id of the user that a command names. @throws {NotFoundError} */
export async function requireUserId(db: Database, login: string): Promise<string> {
  const user = await findUserByLogin(db, login);
  if (user === undefined) throw noUser(login);
  return user.userId;
}

function noUser(login: string): NotFoundError {
  return new NotFoundError(`there is no user ${login}`);
}
