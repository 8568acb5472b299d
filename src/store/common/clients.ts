import type pg from 'pg';
import type { Logo } from '../../rules/face/logo.ts';
import { type Client, type ClientSettings, effectiveChange } from '../../rules/request/client.ts';
import { findOneBatched } from '../database/batch.ts';
import type { Database } from '../database/database.ts';
import { findAll, findExactlyOne, findOne, visibleAsciiOrEmpty, write } from '../database/query.ts';
import { keysetListBy } from './conditions.ts';

/** An operator's settings, with the types of their columns. The ceiling `most` has two more; both are null without one. */
export const SETTING_COLUMNS = {
  name: 'text',
  redirect_uri: 'text',
  allowed_rights: 'text[]',
  site: 'text',
  logo: 'text',
  reviewed: 'boolean',
  user_limits: 'boolean',
  oauth21: 'boolean',
  events_uri: 'text',
  events_internal: 'boolean',
};

const SETTINGS = Object.keys(SETTING_COLUMNS);
const camelCase = (column: string) => column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const renamed = (column: string) => (column.includes('_') ? `${column} as "${camelCase(column)}"` : column);

export const CLIENT_COLUMNS = `${['client_id', 'verified', 'status', 'revision', 'created_at', ...SETTINGS].map(renamed).join(', ')},
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most`;

const WRITTEN = [...SETTINGS, 'most_days', 'most_sum'].join(', ');
const VALUES = `${SETTINGS.map((column) => `@${camelCase(column)}`).join(', ')},
    (@most::json ->> 'days')::int, (@most::json ->> 'sum')::numeric`;

export const findClient = findOneBatched<string, Client>('client-find', { client_id: visibleAsciiOrEmpty })`
  select n::int as n, ${CLIENT_COLUMNS} from @input(client_id text) join clients using (client_id)`;

export const listClients = keysetListBy<Client>('client_id', CLIENT_COLUMNS, 'clients');

/** For rules about the names of all. */
export const findClients = findAll<void, Client>('client-find-all')`
  select ${CLIENT_COLUMNS} from clients order by client_id`;

/** @returns the number inserted: none if the `client_id` is taken */
export const insertClient = write<Omit<Client, 'status' | 'revision' | 'createdAt'>>('client-insert')`
  insert into clients (client_id, verified, ${WRITTEN}) values (@clientId, @verified, ${VALUES})
  on conflict do nothing`;

const lock = findOne<Pick<Client, 'clientId'>, Client>('client-lock')`
  select ${CLIENT_COLUMNS} from clients where client_id = @clientId for no key update`;

const update = findExactlyOne<Client, Client>('client-write')`
  update clients set (revision, ${WRITTEN}) = row (revision + 1, ${VALUES})
   where client_id = @clientId returning ${CLIENT_COLUMNS}`;

/** Within a transaction. @returns the application before and after, the same object if unchanged; null if unknown */
export async function updateClient(db: Database, clientId: string, change: Partial<ClientSettings>) {
  const before = await lock(db, { clientId });
  if (before === null) return null;
  const news = effectiveChange(before, change);
  if (Object.keys(news).length === 0) return { before, after: before };
  return { before, after: await update(db, { ...before, ...news }) };
}

/** An application's picture, as named by its address: in ASCII. */
type LogoName = Pick<Client, 'clientId'> & Pick<Logo, 'file'>;

const logo = findOneBatched<LogoName, { body: string }>('client-logo-find')`
  select n::int as n, encode(body, 'base64') as body
    from @input(client_id text, file text) join client_logos using (client_id, file)`;

export async function findLogo(pool: pg.Pool, name: LogoName): Promise<Buffer | null> {
  const row = await logo(pool, name);
  return row && Buffer.from(row.body, 'base64');
}

const putLogo = write<LogoName & { body: Buffer }>('client-logo-put')`
  insert into client_logos (client_id, file, body) values (@clientId, @file, @body)
  on conflict (client_id) do update set file = excluded.file, body = excluded.body`;

const removeLogo = write<{ clientId: string }>('client-logo-delete')`
  delete from client_logos where client_id = @clientId`;

/** Sets or removes a logo, within the transaction that names it in `clients` and has locked that row. */
export async function writeLogo(db: Database, clientId: string, logo: Logo | null): Promise<void> {
  if (logo === null) await removeLogo(db, { clientId });
  else await putLogo(db, { clientId, file: logo.file, body: logo.body });
}
