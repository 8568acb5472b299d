import type { Command } from 'commander';
import { DECISION_MS } from '../flows/deadline.ts';
import { grantState } from '../oauth/grantState.ts';
import { tokenExpiresAt } from '../oauth/lifetime.ts';
import { findGrantsOfUser, type Grant } from '../store/grants.ts';
import { revokeGrant } from '../store/revocations.ts';
import { NotFoundError, type OutputOptions, printList } from './output.ts';
import { requireUserId } from './user.ts';
import { withStore } from './withStore.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `assent grant …`: what users have allowed */
export function grantCommands(program: Command): void {
  const grant = program.command('grant').description('see and revoke what users have allowed');

  grant
    .command('list')
    .description('list the authorizations of a user, newest first')
    .requiredOption('--login <login>', 'whose')
    .option('--json', 'print JSON')
    .action(async ({ login, ...output }: OutputOptions & { login: string }) => {
      const grants = await withStore(async (db) => findGrantsOfUser(db, await requireUserId(db, login)));
      printList(grants.map(describe), 'no authorizations', output);
    });

  grant
    .command('revoke <grant-id>')
    .description('make its code and token worthless from now on')
    .action(async (grantId: string) => {
      const none = new NotFoundError(`there is no grant ${grantId}`);
      if (!UUID.test(grantId)) throw none;
      const { found, revoked } = await withStore((db) =>
        revokeGrant(db, grantId, performance.now() + DECISION_MS),
      );
      if (!found) throw none;
      console.error(revoked ? `revoked ${grantId}` : `${grantId} was revoked before`);
    });
}

function describe(grant: Grant) {
  return {
    grant_id: grant.grantId,
    client_id: grant.clientId,
    instance_name: grant.instanceName,
    scope: grant.scope,
    state: grantState(grant, grant.now),
    confirmed_at: grant.confirmedAt,
    issued_at: grant.tokenIssuedAt,
    expires_at: grant.tokenIssuedAt && tokenExpiresAt(grant.tokenIssuedAt),
  };
}
