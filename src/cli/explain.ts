import { text as readAll } from 'node:stream/consumers';
import { findGrantOfToken } from '../flows/operators/grants.ts';
import { findRefusal } from '../flows/refusals.ts';
import { remedyFor } from '../flows/remedies.ts';
import { REFUSALS_KEPT_DAYS } from '../rules/lifetimes.ts';
import { parseToken } from '../secrets/tokens.ts';
import type { CommandTable } from './addCommands.ts';
import { grantRow } from './grant.ts';
import { found, NotFoundError, printOne, say } from './output.ts';
import { withStore } from './withStore.ts';

/** For a support case, without a log at hand: `assent explain REF`, `assent token show` */
export const EXPLAIN_COMMANDS: CommandTable = {
  'explain <reference>': [
    'say for the reference on an error page which rule was broken, and what to do',
    explain,
  ],
  token: ['look up an access token'],
  'token show': ['say of an access token, from standard input, whose it is and what it is worth', show],
};

async function explain(reference: string): Promise<void> {
  const refusal = await withStore((db) => findRefusal(db, reference.trim().toLowerCase()));
  if (refusal === null) {
    throw new NotFoundError(
      `no refusal is kept under ${reference}. Perhaps it came a moment ago: ask again in two seconds, since refusals are written in batches. Or it is older than ${REFUSALS_KEPT_DAYS} days, or came with too many others, and then only the log has it; or the request went well (assent audit --ref ${reference}), or had a form shown again, as after a wrong password`,
    );
  }
  printOne({ ...refusal, remedy: remedyFor(refusal) });
}

/** The token is no argument: every process on the machine can list those. */
async function show(): Promise<void> {
  if (process.stdin.isTTY) say('The access token, then Enter and Ctrl-D:');
  const lookup = parseToken('token', (await readAll(process.stdin)).trim());
  const { refused, login, clientName, ...grant } = found(
    await withStore((db) => findGrantOfToken(db, lookup)),
    'authorization',
    'for this: it must be an access token (assent_at_ and 64 characters; a code, assent_ac_, is none) of this installation, whose user and application were not deleted',
  );
  const row = grantRow(grant);
  printOne({ token: refused ?? row.state, login, userId: grant.userId, clientName, ...row });
}
