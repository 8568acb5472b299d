import { type Command, InvalidArgumentError } from 'commander';
import { AUDIT_KINDS, type AuditEvent, type AuditKind, findAuditEvents } from '../store/auditEvents.ts';
import { KEPT_MONTHS, pruneAuditPartitions } from '../store/auditPartitions.ts';
import { printList, report, speaksJson, UsageError } from './output.ts';
import { requireUser } from './user.ts';
import { withStore } from './withStore.ts';

interface AuditOptions {
  readonly login?: string;
  readonly client?: string;
  readonly ref?: string;
  readonly outcome?: AuditKind;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit?: number;
}

/** `assent audit …`: what was allowed, refused, exchanged and taken back, and what operators did */
export function auditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('show what happened to authorizations and what operators did, oldest first')
    .option('--login <login>', 'of this user')
    .option('--client <id>', 'of this application')
    .option('--ref <reference>', 'of the request with this reference')
    .option('--outcome <kind>', 'what happened, such as approved or client_blocked', readKind)
    .option('--since <time>', 'from this day or time on, as 2026-11-20 or 2026-11-20T09:30:00Z', readTime)
    .option('--until <time>', 'before this day or time', readTime)
    .option('--limit <number>', 'only so many, the newest', readLimit)
    .action(show);

  audit
    .command('prune')
    .description('drop the months that are no longer kept; only the owner of the tables may')
    .option('--keep <months>', 'how many whole months before this one stay', readMonths, KEPT_MONTHS)
    .action(async ({ keep }: { keep: number }) => {
      const months = await withStore((db, operator) => pruneAuditPartitions(db, keep, operator));
      const dropped = months.map((month) => `dropped ${month}`).join('\n');
      report({ months }, dropped || 'there is nothing older to drop');
    });
}

async function show(options: AuditOptions): Promise<void> {
  if (Object.keys(options).length === 0) {
    throw new UsageError(
      'say whose events: --login, --client, --ref, --outcome, --since, --until or --limit',
    );
  }
  const { login, client, ref, outcome, since, until, limit } = options;
  const events = await withStore(async (db) =>
    findAuditEvents(
      db,
      {
        userId: login === undefined ? null : (await requireUser(db, login)).userId,
        clientId: client ?? null,
        reference: ref ?? null,
        kind: outcome ?? null,
        since: since ?? null,
        until: until ?? null,
      },
      limit ?? null,
    ),
  );
  const rows = events.map(describe);
  printList(speaksJson() ? rows : summarize(rows), 'no events');
}

/** Everything that is known, for programs. */
function describe(event: AuditEvent) {
  return {
    at: event.at,
    outcome: event.kind,
    user_id: event.userId,
    login: event.login,
    client_id: event.clientId,
    resource_id: event.resourceId,
    instance_name: event.instanceName,
    grant_id: event.grantId,
    scope: event.scope,
    limits: event.limits,
    address: event.address,
    reference: event.reference,
    operator: event.operator,
    detail: event.detail,
  };
}

/** What fits on a line, for people: what only programs need is left out, and so are columns in which nothing stands. */
function summarize(rows: readonly ReturnType<typeof describe>[]): Record<string, unknown>[] {
  const short = rows.map(({ at, outcome, user_id, login, limits: _limits, grant_id: _grantId, ...rest }) => ({
    at,
    outcome,
    user: login ?? user_id,
    ...rest,
  }));
  const isUsed = (name: string) => short.some((row) => row[name as keyof typeof row] !== null);
  return short.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => isUsed(name))));
}

function readKind(text: string): AuditKind {
  const kind = AUDIT_KINDS.find((known) => known === text);
  if (kind === undefined) throw new InvalidArgumentError(`There are: ${AUDIT_KINDS.join(', ')}.`);
  return kind;
}

function readTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('Not a day or a time.');
  return time;
}

function readLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Not a number from 1 on.');
  return Number(text);
}

function readMonths(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('Not a number of months from 1 on.');
  return Number(text);
}
