import { setStatus } from '../flows/operators/blocking.ts';
import type { SecretOwner } from '../flows/operators/secrets.ts';
import type { Status } from '../rules/client.ts';
import { found, report } from './output.ts';
import { withStore } from './withStore.ts';

/** `assent client block`, `assent resource unblock` and their like. */
export async function changeStatus(owner: SecretOwner, id: string, status: Status): Promise<void> {
  const changed = await withStore((db, operator) => setStatus(db, owner, id, status, operator));
  report({ [`${owner}Id`]: id, status }, statusSentence(id, status, found(changed, owner, id)));
}

/** The sentence after a block or unblock. */
export function statusSentence(name: string, status: Status, changed: boolean): string {
  return changed ? `${name} is ${status}` : `${name} was ${status} before: nothing has changed`;
}
