import type { z } from 'zod';
import * as audit from '../operations/audit.ts';
import { readInput } from '../operations/operation.ts';
import type { Arguments, Options } from './commands.ts';
import { type Shell, snakeCase } from './shell.ts';
import { withStore } from './withStore.ts';

/** `assent audit next [cursor]`, for programs that follow the trail. */
export async function followTrail(shell: Shell, { all = false }: Options, [first]: Arguments): Promise<void> {
  let input = readInput(audit.next, first === undefined ? {} : { cursor: first });
  await withStore(shell, async (caller) => {
    let events: object[];
    do {
      const { cursor, ...part } = audit.next.output.parse(await audit.next.run(caller, input));
      events = part.events.map(snakeCase);
      shell.print({ events, cursor }, [...events.map((event) => JSON.stringify(event)), cursor].join('\n'));
      input = readInput(audit.next, { cursor });
    } while (all && events.length >= audit.MAX_NEXT);
  });
}

/** Fields for programs only. */
const UNSEEN = ['id', 'clientName', 'limits', 'grantId'];

/** The fields that fit on one line, for people. Columns without a value so far are omitted. */
export function summary() {
  const shown = new Set<string>();
  return (events: readonly z.output<typeof audit.show.output>[]): Record<string, unknown>[] => {
    const rows = events.map(({ at, outcome, userId, login, ...event }) => {
      return Object.entries({ at, outcome, user: login ?? userId, ...event });
    });
    for (const [name, value] of rows.flat()) if (value !== null && !UNSEEN.includes(name)) shown.add(name);
    return rows.map((fields) => Object.fromEntries(fields.filter(([name]) => shown.has(name))));
  };
}
