import type pg from 'pg';
import type { Logo } from '../../rules/face/logo.ts';
import { type Client, type ClientSettings, effectiveChange } from '../../rules/request/client.ts';
import { findBatched } from '../database/batch.ts';
import type { Database } from '../database/database.ts';
import { asciiOnly, findAll, findOne, findRow, write } from '../database/query.ts';
import { listedBy } from './conditions.ts';

export const CLIENT_COLUMNS = `client_id as "clientId", name, redirect_uri as "redirectUri", verified, status,
  allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, revision, created_at as "createdAt",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most`;

export const findClient = findBatched<string, Client>('client-find', { client_id: asciiOnly })`
  select n::int as n, ${CLIENT_COLUMNS} from @input(client_id text) join clients using (client_id)`;

export const listClients = listedBy<Client>('client_id', CLIENT_COLUMNS, 'clients');

/** For rules about the names of all. */
export const findClients = findAll<void, Client>('client-find-all')`
  select ${CLIENT_COLUMNS} from clients order by client_id`;

/** The ceiling `most` takes two columns; both are null without one. */
const [MOST_DAYS, MOST_SUM] = [`(@most::json ->> 'days')::int`, `(@most::json ->> 'sum')::numeric`];

/** @returns the number inserted: none if the `client_id` is taken */
export const insertClient = write<Omit<Client, 'status' | 'revision' | 'createdAt'>>('client-insert')`
  insert into clients (client_id, name, redirect_uri, verified, allowed_rights, most_days, most_sum, site, logo, reviewed,
                       user_limits, oauth21)
  values (@clientId, @name, @redirectUri, @verified, @allowedRights, ${MOST_DAYS}, ${MOST_SUM}, @site, @logo, @reviewed,
          @userLimits, @oauth21)
  on conflict do nothing`;

const lock = findOne<Pick<Client, 'clientId'>, Client>('client-lock')`
  select ${CLIENT_COLUMNS} from clients where client_id = @clientId for no key update`;

const update = findRow<Client, Client>('client-write')`
  update clients set name = @name, redirect_uri = @redirectUri, allowed_rights = @allowedRights,
         most_days = ${MOST_DAYS}, most_sum = ${MOST_SUM}, site = @site, logo = @logo, reviewed = @reviewed, user_limits = @userLimits,
         oauth21 = @oauth21, revision = revision + 1
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

const logo = findBatched<LogoName, { body: string }>('client-logo-find')`
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
