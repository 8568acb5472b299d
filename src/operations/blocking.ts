import { z } from 'zod';
import type { Status } from '../rules/request/client.ts';
import type { SecretOwner } from '../store/common/secrets.ts';
import { updateStatus } from '../store/operate/registered.ts';
import { audited } from './audit.ts';
import { ID, STATUS } from './fields.ts';
import { found, operation } from './operation.ts';

/** `client.block`, `resource.unblock` and the like: each takes effect with an endpoint's next statement. The result also has `changed`. */
export function blockOperations(owner: SecretOwner, summaries: { block: string; unblock: string }) {
  const key: string = `${owner}Id`;
  const output: z.ZodObject = z.object({ [key]: z.string(), status: STATUS });
  const to = (verb: 'block' | 'unblock', status: Status) =>
    operation({
      summary: summaries[verb],
      input: z.strictObject({ [key]: ID }),
      output,
      async run({ db, operator }, { [key]: id = '' }) {
        const act = { kind: `${owner}_${verb}ed`, operator, [key]: id } as const;
        const changed = await audited(db, act, async (connection) => {
          return (await updateStatus[owner](connection, { id, status }))?.changed ?? null;
        });
        return { [key]: id, status, changed: found(changed, owner, id) };
      },
    });
  return [to('block', 'blocked'), to('unblock', 'active')] as const;
}
