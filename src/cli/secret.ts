import { Option } from 'commander';
import type pg from 'pg';
import { addSecret, listSecrets, retireSecret, type SecretOwner } from '../flows/operators/secrets.ts';
import type { CommandTable } from './addCommands.ts';
import { confirm, YES } from './confirm.ts';
import { NotFoundError, printList, printOne, report } from './output.ts';
import { withStore } from './withStore.ts';

/** Throws when there is no such owner, or when it can't have a secret. */
type Require = (db: pg.Pool, id: string) => Promise<unknown>;

/**
 * `assent client secret …` and `assent resource secret …`: several may be live, so that one can be changed without a break.
 *
 * @param mayHave for another secret; the others only have to be there
 */
export function secretCommands(
  owner: SecretOwner,
  require: Require,
  mayHave: Require = require,
): CommandTable {
  return {
    [`${owner} secret`]: [
      'add, list and retire secrets; several may be valid, so that one can be replaced without a break',
    ],
    [`${owner} secret add <id>`]: [
      'make another secret; it is shown this once',
      (id: string) => add(owner, id, mayHave),
    ],
    [`${owner} secret list <id>`]: [
      'list the secrets by their ids',
      (id: string) => list(owner, id, require),
    ],
    [`${owner} secret retire <id> <secret-id>`]: [
      'stop accepting a secret',
      (id: string, secretId: string, { yes = false, force = yes }) => retire(owner, id, secretId, force),
      YES,
      new Option('--force', 'the same as --yes').hideHelp(),
    ],
  };
}

async function add(owner: SecretOwner, id: string, mayHave: Require): Promise<void> {
  const added = await withStore(async (db, operator) => {
    await mayHave(db, id);
    return addSecret(db, owner, id, operator);
  });
  printOne({ [`${owner}Id`]: id, secretId: added.secretId, [`${owner}Secret`]: added.secret });
}

async function list(owner: SecretOwner, id: string, require: Require): Promise<void> {
  const secrets = await withStore(async (db) => {
    await require(db, id);
    return listSecrets(db, owner, id);
  });
  await printList([secrets], (page) => page, 'no secrets');
}

async function retire(owner: SecretOwner, id: string, secretId: string, yes: boolean): Promise<void> {
  await withStore(async (db, operator) => {
    const ask = (force: boolean) => retireSecret(db, owner, id, secretId, force, operator);
    const { found, retired } = await ask(yes);
    if (!found) throw new NotFoundError(`the ${owner} ${id} has no live secret ${secretId}`);
    if (retired) return;
    await confirm(`retire the last live secret of ${id}, which is refused until it has another`, 1);
    await ask(true);
  });
  report({ [`${owner}Id`]: id, secretId, status: 'retired' }, `retired ${secretId}`);
}
