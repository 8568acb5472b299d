import { type Client, type ClientSettings, effectiveChange } from '../../rules/request/client.ts';
import { findBatched } from '../database/batch.ts';
import type { Database } from '../database/database.ts';
import { asciiOnly, findAll, findOne, findRow, write } from '../database/query.ts';

export const CLIENT_COLUMNS = `client_id as "clientId", name, redirect_uri as "redirectUri", verified, status,
  allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, revision, created_at as "createdAt",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most`;

/** By `client_id`; null if unknown. */
export const findClient = findBatched<string, Client>('client-find', { client_id: asciiOnly })`
  select n::int as n, ${CLIENT_COLUMNS} from @input(client_id text) join clients using (client_id)`;

export const listClients = findAll<void, Client>('client-list')`
  select ${CLIENT_COLUMNS} from clients order by created_at, client_id`;

type NewClient = Omit<Client, 'status' | 'revision' | 'createdAt'>;

/** The ceiling `most` takes two columns; both are null without one. */
const [MOST_DAYS, MOST_SUM] = [`(@most::json ->> 'days')::int`, `(@most::json ->> 'sum')::numeric`];

/** @returns the number inserted: none if the `client_id` is taken */
export const insertClient = write<NewClient>('client-insert')`
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
