import type pg from 'pg';
import { z } from 'zod';
import type { Status } from '../rules/request/client.ts';
import type { SecretOwner } from '../store/common/secrets.ts';
import { updateStatus } from '../store/operate/blocking.ts';
import { audited } from './audit.ts';
import { ID, STATUS } from './fields.ts';
import { found, operation } from './operation.ts';

/** `client.block`, `resource.unblock` and the like; the result also says if the status changed. */
export function blockOperations(owner: SecretOwner, summaries: { block: string; unblock: string }) {
  const key: string = `${owner}Id`;
  const output: z.ZodObject = z.object({ [key]: z.string(), status: STATUS });
  const to = (verb: 'block' | 'unblock', status: Status) =>
    operation({
      name: `${owner}.${verb}`,
      summary: summaries[verb],
      input: z.strictObject({ [key]: ID }),
      output,
      effect: 'changes',
      async run({ db, operator }, { [key]: id = '' }) {
        const changed = found(await setStatus(db, owner, id, status, operator), owner, id);
        return { [key]: id, status, changed };
      },
    });
  return [to('block', 'blocked'), to('unblock', 'active')] as const;
}

/** Takes effect with each endpoint's next statement. @returns null for an unknown application or resource server */
export function setStatus(
  pool: pg.Pool,
  owner: SecretOwner,
  id: string,
  status: Status,
  operator: string,
): Promise<boolean | null> {
  const kind = status === 'blocked' ? (`${owner}_blocked` as const) : (`${owner}_unblocked` as const);
  return audited(pool, { kind, operator, [`${owner}Id`]: id }, async (db) => {
    return (await updateStatus[owner](db, { id, status }))?.changed ?? null;
  });
}
