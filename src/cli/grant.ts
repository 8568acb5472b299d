import { Option } from 'commander';
import type pg from 'pg';
import {
  findGrantsOfUser,
  type Grant,
  revokeAll,
  revokeGrant,
  type Whose,
} from '../flows/operators/grants.ts';
import { grantState } from '../rules/grantState.ts';
import { tokenExpiresAt } from '../rules/lifetimes.ts';
import { type CommandTable, required } from './addCommands.ts';
import { requireClient } from './client.ts';
import { canAsk, confirmRevoking, YES } from './confirm.ts';
import { found, printList, report, showProgress, UsageError } from './output.ts';
import { requireUser } from './user.ts';
import { withStore } from './withStore.ts';

interface WhoseOptions {
  readonly login?: string;
  readonly client?: string;
  readonly yes?: boolean;
}

/** `assent grant …`: what users have allowed */
export const GRANT_COMMANDS: CommandTable = {
  grant: ['list and revoke what users have allowed'],
  'grant list': [
    'list the authorizations of a user, newest first',
    list,
    required('--login <login>', 'the user'),
  ],
  'grant revoke [grant-id]': [
    'revoke one authorization, or all of a user or an application: codes and tokens stop working',
    revoke,
    new Option('--login <login>', 'all that this user has allowed'),
    new Option('--client <id>', 'all that this application was allowed; with both, only by this user'),
    YES,
  ],
};

async function list({ login }: { login: string }): Promise<void> {
  const grants = await withStore(async (db) => findGrantsOfUser(db, (await requireUser(db, login)).userId));
  printList(grants.map(rowOf), 'no authorizations');
}

async function revoke(grantId: string | undefined, options: WhoseOptions): Promise<void> {
  const { login, client } = options;
  const ofMany = login !== undefined || client !== undefined;
  if (ofMany === (grantId !== undefined)) {
    throw new UsageError(
      'say what to revoke: GRANT_ID, --login or --client; with both, only what this user allowed this application',
    );
  }
  if (grantId !== undefined) return revokeOne(grantId);
  const revoked = await withStore(async (db, operator) => {
    const ofWhom = await whose(db, options);
    // A script is not asked, and needs no --yes, unlike for `client delete`.
    if (canAsk() && !options.yes) await confirmRevoking(db, ofWhom);
    return revokeAll(db, ofWhom, operator, showProgress);
  });
  report({ login, clientId: client, revoked }, `authorizations revoked: ${revoked}`);
}

async function revokeOne(grantId: string): Promise<void> {
  const result = await withStore((db, operator) => revokeGrant(db, grantId, operator));
  const revoked = found(result, 'grant', grantId);
  const sentence = revoked ? `revoked ${grantId}` : `${grantId} was revoked before`;
  report({ grantId, revoked: Number(revoked) }, sentence);
}

async function whose(db: pg.Pool, { login, client }: WhoseOptions): Promise<Whose> {
  const clientId = client === undefined ? undefined : (await requireClient(db, client)).clientId;
  const userId = login === undefined ? undefined : (await requireUser(db, login)).userId;
  if (userId !== undefined) return clientId === undefined ? { userId } : { userId, clientId };
  if (clientId !== undefined) return { clientId };
  throw new UsageError('say whose: --login or --client');
}

function rowOf(grant: Grant) {
  const { grantId, clientId, instanceName, scope, confirmedAt, lastUsedOn, tokenIssuedAt: issuedAt } = grant;
  const expiresAt = issuedAt && tokenExpiresAt(issuedAt);
  const state = grantState(grant, grant.now);
  return { grantId, clientId, instanceName, scope, state, confirmedAt, issuedAt, expiresAt, lastUsedOn };
}
