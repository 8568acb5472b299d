import { type Command, InvalidArgumentError } from 'commander';
import { type AuditEvent, findAuditEvents } from '../store/auditEvents.ts';
import { KEPT_MONTHS, pruneAuditPartitions } from '../store/auditPartitions.ts';
import { type OutputOptions, printList, UsageError } from './output.ts';
import { requireUserId } from './user.ts';
import { withStore } from './withStore.ts';

interface AuditOptions extends OutputOptions {
  readonly login?: string;
  readonly client?: string;
  readonly ref?: string;
  readonly since?: Date;
}

/** `assent audit …`: what was allowed, refused, exchanged and taken back, by whom and from where */
export function auditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('show what happened to authorizations, oldest first')
    .option('--login <login>', 'of this user')
    .option('--client <id>', 'of this application')
    .option('--ref <reference>', 'of the request with this reference')
    .option('--since <time>', 'from this day or time on, as 2026-11-20 or 2026-11-20T09:30:00Z', readTime)
    .option('--json', 'print JSON')
    .action(show);

  audit
    .command('prune')
    .description('drop the months that are no longer kept; only the owner of the tables may')
    .option('--keep <months>', 'how many whole months before this one stay', readMonths, KEPT_MONTHS)
    .action(async ({ keep }: { keep: number }) => {
      const gone = await withStore((db) => pruneAuditPartitions(db, keep));
      for (const month of gone) console.error(`dropped ${month}`);
      if (gone.length === 0) console.error('there is nothing older to drop');
    });
}

async function show({ login, client, ref, since, json = false }: AuditOptions): Promise<void> {
  if (login === undefined && client === undefined && ref === undefined && since === undefined) {
    throw new UsageError('say whose events: --login, --client, --ref or --since');
  }
  const events = await withStore(async (db) =>
    findAuditEvents(db, {
      userId: login === undefined ? null : await requireUserId(db, login),
      clientId: client ?? null,
      reference: ref ?? null,
      since: since ?? null,
    }),
  );
  printList(events.map(json ? describe : summarize), 'no events', { json });
}

/** Everything that is known, for programs. */
function describe(event: AuditEvent) {
  return {
    at: event.at,
    outcome: event.kind,
    login: event.login,
    client_id: event.clientId,
    instance_name: event.instanceName,
    grant_id: event.grantId,
    scope: event.scope,
    limits: event.limits,
    address: event.address,
    reference: event.reference,
  };
}

/** What fits on a line, for people. */
function summarize(event: AuditEvent) {
  const { limits: _limits, grant_id: _grantId, ...rest } = describe(event);
  return rest;
}

function readTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('Not a day or a time.');
  return time;
}

function readMonths(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('Not a number of months from 1 on.');
  return Number(text);
}
