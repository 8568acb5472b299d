import { InvalidArgumentError, Option } from 'commander';
import type pg from 'pg';
import {
  AUDIT_KINDS,
  type AuditEvent,
  type AuditFilter,
  type AuditKind,
  findAuditEvents,
  findPrunable,
  findTrailPart,
  pruneAuditPartitions,
  type TrailPlace,
} from '../flows/operators/audit.ts';
import { findClient } from '../flows/operators/clients.ts';
import { findResource } from '../flows/operators/resources.ts';
import { AUDIT_KEPT_MONTHS } from '../rules/lifetimes.ts';
import { isUuid } from '../secrets/uuid.ts';
import type { CommandTable } from './addCommands.ts';
import { confirm, YES } from './confirm.ts';
import { inJson, print, printList, report, snakeCase, UsageError } from './output.ts';
import { readNumber, readTime } from './readOption.ts';
import { requireUser } from './user.ts';
import { withStore } from './withStore.ts';

interface AuditOptions {
  readonly login?: string;
  readonly user?: string;
  readonly client?: string;
  readonly resource?: string;
  readonly ref?: string;
  readonly outcome?: AuditKind;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit?: number;
}

/** `assent audit …`: what was allowed, refused, exchanged and taken back, and what operators did */
export const AUDIT_COMMANDS: CommandTable = {
  audit: [
    'show what happened to authorizations, sign-ins, and what operators did, oldest first',
    show,
    new Option('--login <login>', 'of this user'),
    new Option('--user <id>', 'of this user, also one that was erased')
      .argParser(readUserId)
      .conflicts('login'),
    new Option('--client <id>', 'of this application, also one that was deleted'),
    new Option('--resource <id>', 'of this resource server, also one that was deleted'),
    new Option('--ref <reference>', 'of the request with this reference, as on error pages and in the log'),
    new Option('--outcome <kind>', 'of this kind, such as approved or client_blocked').argParser(readKind),
    new Option(
      '--since <time>',
      'from this day (UTC) or time on, as 2026-11-20 or 2026-11-20T09:30:00Z',
    ).argParser(readTime),
    new Option('--until <time>', 'before this day (UTC) or time').argParser(readTime),
    new Option('--limit <number>', 'only so many, the newest ones').argParser(readNumber(999_999_999)),
  ],
  'audit next [place]': [
    'show what came into the trail since a place, and the place that comes next; without one only that',
    next,
    new Option('--all', 'until nothing is left, not only the next 5,000'),
  ],
  'audit prune': [
    'drop old months of the trail; run as the owner of the tables',
    prune,
    new Option('--keep <months>', 'how many whole months before this one are kept')
      .argParser(readNumber(9_999))
      .default(AUDIT_KEPT_MONTHS),
    YES,
  ],
};

async function prune({ keep, yes = false }: { keep: number; yes?: boolean }): Promise<void> {
  const { months, busy } = await withStore(async (db, operator) => {
    if (!yes) await confirmPruning(db, keep);
    return pruneAuditPartitions(db, keep, operator);
  });
  const dropped = months.map((month) => `dropped ${month}`).join('\n');
  if (busy)
    throw new Error(
      [dropped, 'a month is being read, most likely by a backup: try again later'].join('\n').trim(),
    );
  report({ months }, dropped || 'there is nothing older to drop');
}

/** Asks before months of the trail are dropped. @param keep how many are not */
export async function confirmPruning(db: pg.Pool, keep: number): Promise<void> {
  const { rows = 0, months } = (await findPrunable(db, keep)) ?? {};
  const counted = `${rows} row${rows === 1 ? '' : 's'}`;
  await confirm(`drop ${counted} of the audit trail${months ? `, all of ${months}` : ''}`, rows);
}

async function show(options: AuditOptions): Promise<void> {
  if (Object.keys(options).length === 0) {
    throw new UsageError(
      'say whose events: --login, --user, --client, --resource, --ref, --outcome, --since, --until or --limit',
    );
  }
  await withStore(async (db) => {
    const events = findAuditEvents(db, await filterOf(db, options), options.limit ?? null);
    const none = ['no events', ...(await findUnknown(db, options))].join(', and ');
    await printList(events, inJson ? (page) => page.map(rowOf) : summary(), none);
  });
}

/** How many events are read at once. */
const MAX_NEXT = 5_000;

/** For programs that follow the trail. A place is four numbers that mean something to us alone. */
async function next(place: string | undefined, { all = false }: { all?: boolean }): Promise<void> {
  await withStore(async (db) => {
    let from = place === undefined ? null : readPlace(place);
    let events: object[];
    do {
      const part = await findTrailPart(db, from, MAX_NEXT);
      events = part.events.map((event) => snakeCase(rowOf(event)));
      from = part.place;
      const document = { events, place: formatPlace(from) };
      print(document, [...events.map((event) => JSON.stringify(event)), document.place].join('\n'));
    } while (all && events.length >= MAX_NEXT);
  });
}

function formatPlace({ from, since, at, by }: TrailPlace): string {
  return [from, since, at, by].join('.');
}

function readPlace(text: string): TrailPlace {
  const [, ...numbers] = /^(\d{1,18})\.(\d{1,18})\.(\d{1,18})\.(\d{1,18})$/.exec(text) ?? [];
  const [from, since, at, by] = numbers.map(BigInt);
  if (from === undefined || since === undefined || at === undefined || by === undefined) {
    throw new UsageError('not a place: take the one that was printed last');
  }
  return { from, since, at, by };
}

async function filterOf(db: pg.Pool, options: AuditOptions): Promise<AuditFilter> {
  const { login, user = null, client: clientId = null, resource: resourceId = null } = options;
  const { ref: reference = null, outcome: kind = null, since = null, until = null } = options;
  const userId = login === undefined ? user : (await requireUser(db, login)).userId;
  return { userId, clientId, resourceId, reference, kind, since, until };
}

/** Ids in the filter that name nothing: they may be mistyped. */
async function findUnknown(db: pg.Pool, { client, resource }: AuditOptions): Promise<string[]> {
  const unknown: string[] = [];
  if (client !== undefined && (await findClient(db, client)) === null)
    unknown.push(`there is no application ${client} now`);
  if (resource !== undefined && (await findResource(db, resource)) === null)
    unknown.push(`there is no resource ${resource} now`);
  return unknown;
}

/** All fields of an event, for programs. */
function rowOf({ id, at, kind: outcome, operator, detail, ...event }: AuditEvent) {
  return { id, at, outcome, ...event, operator, detail };
}

/** Fields for programs only. */
const UNSEEN = ['id', 'clientName', 'limits', 'grantId'];

/** The fields that fit on a line, for people; columns that had no value so far are left out. */
function summary(): (events: readonly AuditEvent[]) => Record<string, unknown>[] {
  const shown = new Set<string>();
  return (events) => {
    const rows = events.map(rowOf).map(({ at, outcome, userId, login, ...event }) => {
      return Object.entries({ at, outcome, user: login ?? userId, ...event });
    });
    for (const [name, value] of rows.flat()) if (value !== null && !UNSEEN.includes(name)) shown.add(name);
    return rows.map((fields) => Object.fromEntries(fields.filter(([name]) => shown.has(name))));
  };
}

function readKind(text: string): AuditKind {
  const kind = AUDIT_KINDS.find((known) => known === text);
  if (kind === undefined) throw new InvalidArgumentError(`There are: ${AUDIT_KINDS.join(', ')}.`);
  return kind;
}

function readUserId(text: string): string {
  const id = text.toLowerCase();
  if (!isUuid(id)) throw new InvalidArgumentError('Not the id of a user: --login takes logins.');
  return id;
}
