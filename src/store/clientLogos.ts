import type { Logo } from '../rules/logo.ts';
import { batched } from './database/batch.ts';
import type { Database } from './database/database.ts';
import { asciiOnly, execute, queryBatch } from './database/query.ts';
import { batchStatement, statement } from './database/statement.ts';

/** A picture of an application, as its address names it. */
interface LogoName {
  readonly clientId: string;
  readonly file: string;
}

const find = batchStatement<LogoName>(
  'client-logo-find',
  {
    client_id: ['text', ({ clientId }) => asciiOnly(clientId)],
    file: ['text', ({ file }) => asciiOnly(file)],
  },
  (input) =>
    `select n::int as n, encode(body, 'base64') as body from ${input} join client_logos using (client_id, file)`,
);

/** The bytes of a logo; null when the application has no such one. */
export const findLogo = batched('client-logo-find', async (db, names: readonly LogoName[]) => {
  const rows = await queryBatch<{ body: string }>(db, find(names));
  return rows.map((row) => row && Buffer.from(row.body, 'base64'));
});

const put = statement<LogoName & { body: Buffer }>(
  'client-logo-put',
  `insert into client_logos (client_id, file, body) values (@clientId, @file, @body)
   on conflict (client_id) do update set file = excluded.file, body = excluded.body`,
);

const remove = statement<{ clientId: string }>(
  'client-logo-delete',
  'delete from client_logos where client_id = @clientId',
);

/** Sets or removes a logo, within the transaction that names it in `clients`, whose row is locked there. */
export async function writeLogo(db: Database, clientId: string, logo: Logo | null): Promise<void> {
  await execute(
    db,
    logo === null ? remove({ clientId }) : put({ clientId, file: logo.file, body: logo.body }),
  );
}
