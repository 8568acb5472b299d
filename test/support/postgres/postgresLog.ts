import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

export type LogPlace = { readonly file: string } | 'through SQL' | 'nowhere';

/** How long each file of the log was at some moment. */
export type LogSizes = Readonly<Record<string, number>>;

/** @throws when PostgreSQL does not show its log */
export async function logSizes(client: pg.Client, place: LogPlace): Promise<LogSizes> {
  if (place === 'nowhere') return {};
  if (place !== 'through SQL') return { [place.file]: statSync(place.file).size };
  const { rows } = await client.query<{ name: string; size: number }>(
    'select name, size::float8 from pg_ls_logdir()',
  );
  return Object.fromEntries(rows.map(({ name, size }) => [name, size]));
}

/** The log since then. @throws when it can't be read */
export async function logSince(client: pg.Client, place: LogPlace, then: LogSizes): Promise<string> {
  if (place === 'nowhere') return '';
  const mark = `read until ${randomBytes(8).toString('hex')}`;
  await client.query(`do $$ begin raise log '${mark}'; end $$`);
  // Another process writes the files.
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await sleep(20)) {
    const text = await read(client, place, then);
    if (text.includes(mark)) return text;
  }
  throw new Error('what PostgreSQL logs does not appear in its log');
}

async function read(client: pg.Client, place: LogPlace, then: LogSizes): Promise<string> {
  const parts: Buffer[] = [];
  for (const [name, size] of Object.entries(await logSizes(client, place))) {
    const from = then[name] ?? 0;
    if (size > from) parts.push(await readPart(client, place, name, from, size));
  }
  return Buffer.concat(parts).toString();
}

async function readPart(client: pg.Client, place: LogPlace, name: string, from: number, to: number) {
  if (place !== 'through SQL') return readFileSync(name).subarray(from, to);
  const { rows } = await client.query<{ part: Buffer }>(
    `select pg_read_binary_file(current_setting('log_directory') || '/' || $1, $2, $3) as part`,
    [name, from, to - from],
  );
  return rows[0]?.part ?? Buffer.alloc(0);
}
