import { z } from 'zod';
import { OperatorError } from '../rules/common/error.ts';
import { findNotifyCursors, receiverName, resumeNotifying } from '../store/operate/notifyCursors.ts';
import { ID } from './fields.ts';
import { operation } from './operation.ts';

/** Of an endpoint of `assent notify` that is behind. */
export const BEHIND = z.object({
  failures: z.int().describe('in a row'),
  failing_since: z.date().nullable(),
  last_error: z.string().nullable(),
  is_paused: z.boolean(),
});

/** @returns null for an endpoint that keeps up */
export async function findBehind(db: Parameters<typeof findNotifyCursors>[0], clientId: string) {
  const cursors = await findNotifyCursors(db);
  const found = cursors.find(({ endpoint }) => endpoint === receiverName(clientId));
  if (found === undefined) return null;
  const { failures, failingSince, lastError, isPaused } = found;
  return { failures, failing_since: failingSince, last_error: lastError, is_paused: isPaused };
}

export const resume = operation({
  summary: 'let `assent notify` try an endpoint that fails, or is paused, now',
  input: z.strictObject({
    clientId: ID.optional().describe('the application; without one the wallet (`NOTIFY_URL`)'),
  }),
  output: z.object({ endpoint: z.string(), lastError: z.string().nullable() }),
  async run({ db }, { clientId = null }) {
    const endpoint = receiverName(clientId);
    const resumed = await resumeNotifying(db, { endpoint });
    if (resumed === null) throw new OperatorError('state', `${endpoint} is not behind: nothing to resume`);
    return { endpoint, ...resumed };
  },
});
