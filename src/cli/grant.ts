import { open } from 'node:fs/promises';
import { Option } from 'commander';
import type pg from 'pg';
import {
  countLiveGrants,
  type Grant,
  listGrants,
  revokeAll,
  revokeGrant,
  revokeThese,
  type Whose,
} from '../flows/operators/grants.ts';
import { findRevived } from '../flows/operators/revived.ts';
import { grantState } from '../rules/grantState.ts';
import { tokenExpiresAt } from '../rules/lifetimes.ts';
import type { CommandTable } from './addCommands.ts';
import { requireClient } from './client.ts';
import { confirmRevoking, YES } from './confirm.ts';
import { found, printList, report, showProgress, UsageError, warn } from './output.ts';
import { LIMIT, readTime } from './readOption.ts';
import { requireUser } from './user.ts';
import { withStore } from './withStore.ts';

interface RevokeOptions {
  readonly login?: string;
  readonly client?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly trail?: string;
  readonly yes?: boolean;
}

/** `assent grant …`: what users have allowed */
export const GRANT_COMMANDS: CommandTable = {
  grant: ['list and revoke what users have allowed'],
  'grant list': [
    'list the authorizations of a user or an application, newest first',
    list,
    new Option('--login <login>', 'of this user'),
    new Option('--client <id>', 'of this application; with both, only what this user allowed it'),
    LIMIT,
  ],
  'grant revoke [grant-id]': [
    'revoke one authorization, or all of a user, an application or a time: codes and tokens stop working',
    revoke,
    new Option('--login <login>', 'all that this user has allowed'),
    new Option('--client <id>', 'all that this application was allowed; with both, only by this user'),
    new Option('--since <time>', 'those given from this day (UTC) or time on').argParser(readTime),
    new Option('--until <time>', 'those given before this day (UTC) or time').argParser(readTime),
    new Option(
      '--trail <file>',
      'after a restore: those that ended or were replaced later, by the trail that “assent audit next” wrote to this file',
    ).conflicts(['login', 'client', 'since', 'until']),
    YES,
  ],
};

async function list(options: RevokeOptions & { limit?: number }): Promise<void> {
  const { login, client, limit = null } = options;
  if ((login ?? client) === undefined) throw new UsageError('say whose: --login, --client, or both');
  await withStore(async (db) => {
    const grants = listGrants(db, await whose(db, options), limit);
    const named = (grant: Grant & { login: string }) => ({ login: grant.login, ...grantRow(grant) });
    await printList(grants, (page) => page.map(login ? grantRow : named), 'no authorizations');
  });
}

async function revoke(grantId: string | undefined, options: RevokeOptions): Promise<void> {
  const { login, client, since, until, trail } = options;
  const ofMany = [login, client, since, until, trail].some((option) => option !== undefined);
  if (ofMany === (grantId !== undefined)) {
    throw new UsageError(
      'say what to revoke: GRANT_ID, --login, --client, --since, --until or --trail; with several options, only what fits all',
    );
  }
  if (grantId !== undefined) return revokeOne(grantId);
  const revoked = await withStore((db, operator) =>
    trail === undefined ? revokeMany(db, options, operator) : revokeEnded(db, trail, options, operator),
  );
  report({ login, clientId: client, since, until, trail, revoked }, `authorizations revoked: ${revoked}`);
}

async function revokeMany(db: pg.Pool, options: RevokeOptions, operator: string): Promise<number> {
  const which = await whose(db, options);
  if (!options.yes) await confirmRevoking(await countLiveGrants(db, which));
  return revokeAll(db, which, operator, showProgress);
}

async function revokeEnded(db: pg.Pool, trail: string, options: RevokeOptions, operator: string) {
  const file = await open(trail);
  const { ids, people, ends, unreadable } = await findRevived(db, file.readLines());
  if (unreadable > 0)
    warn(`lines that can't be read: ${unreadable} in ${trail}; what they say is not carried out`);
  if (ends === 0) throw new Error(`${trail} has no event that ends an authorization`);
  if (!options.yes) await confirmRevoking({ grants: ids.length, people });
  return revokeThese(db, ids, operator, showProgress);
}

async function revokeOne(grantId: string): Promise<void> {
  const result = await withStore((db, operator) => revokeGrant(db, grantId, operator));
  const revoked = found(result, 'grant', grantId);
  const sentence = revoked ? `revoked ${grantId}` : `${grantId} was revoked before`;
  report({ grantId, revoked: Number(revoked) }, sentence);
}

async function whose(db: pg.Pool, { login, client, since, until }: RevokeOptions): Promise<Whose> {
  const user = login === undefined ? undefined : await requireUser(db, login);
  if (client !== undefined) await requireClient(db, client);
  return { userId: user?.userId, clientId: client, since, until };
}

/** An authorization as commands print it. */
export function grantRow(grant: Grant) {
  const { grantId, clientId, instanceName, scope, confirmedAt, lastUsedOn, tokenIssuedAt: issuedAt } = grant;
  const expiresAt = issuedAt && tokenExpiresAt(issuedAt);
  const state = grantState(grant, grant.now);
  return { grantId, clientId, instanceName, scope, state, confirmedAt, issuedAt, expiresAt, lastUsedOn };
}
