import type pg from 'pg';
import type { Logo } from '../../rules/face/logo.ts';
import type { parseLogoPath } from '../../rules/request/client.ts';
import { findBatched } from '../database/batch.ts';
import type { Database } from '../database/database.ts';
import { write } from '../database/query.ts';

/** An application's picture, as named by its address: in ASCII. */
type LogoName = NonNullable<ReturnType<typeof parseLogoPath>>;

const find = findBatched<LogoName, { body: string }>('client-logo-find')`
  select n::int as n, encode(body, 'base64') as body
    from @input(client_id text, file text) join client_logos using (client_id, file)`;

/** A logo's bytes; null if the application has no such logo. */
export async function findLogo(pool: pg.Pool, name: LogoName): Promise<Buffer | null> {
  const row = await find(pool, name);
  return row && Buffer.from(row.body, 'base64');
}

const put = write<LogoName & { body: Buffer }>('client-logo-put')`
  insert into client_logos (client_id, file, body) values (@clientId, @file, @body)
  on conflict (client_id) do update set file = excluded.file, body = excluded.body`;

const remove = write<{ clientId: string }>('client-logo-delete')`
  delete from client_logos where client_id = @clientId`;

/** Sets or removes a logo, within the transaction that names it in `clients` and has locked that row. */
export async function writeLogo(db: Database, clientId: string, logo: Logo | null): Promise<void> {
  if (logo === null) await remove(db, { clientId });
  else await put(db, { clientId, file: logo.file, body: logo.body });
}
