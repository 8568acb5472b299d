import * as audit from '../operations/audit.ts';
import { type OperationContext, readInput } from '../operations/operation.ts';
import { withSnakeCaseKeys } from '../operations/snakeCase.ts';
import type { Arguments, Options } from './commands.ts';
import type { Shell } from './shell.ts';
import { withStore } from './withStore.ts';

/** `assent audit next [cursor]`, for programs that follow the trail. */
export async function followTrail(shell: Shell, { all = false }: Options, [first]: Arguments): Promise<void> {
  let input = readInput(audit.next, first === undefined ? {} : { after: first });
  const follow = async (context: OperationContext) => {
    let events: object[];
    do {
      const part = audit.next.output.parse(await audit.next.run(context, input));
      const { cursor } = part;
      events = part.events.map(withSnakeCaseKeys);
      shell.print(
        withSnakeCaseKeys(part),
        [...events.map((event) => JSON.stringify(event)), cursor].join('\n'),
      );
      input = readInput(audit.next, { after: cursor });
    } while (all && events.length >= audit.MAX_EVENTS_AT_ONCE);
  };
  await withStore(shell, follow, audit.next);
}
