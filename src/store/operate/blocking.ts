import type { Status } from '../../rules/request/client.ts';
import { findOne } from '../database/query.ts';

const setStatus = <Kind extends string>(kind: Kind, key = `${kind}_id`) =>
  findOne<{ id: string; status: Status }, { changed: boolean } & Record<`${Kind}Id`, string>>(
    `${kind}-set-status`,
    `with changed as (
       update ${kind}s set status = @status where ${key} = @id and status <> @status returning ${kind}_id
     )
     select ${kind}_id as "${kind}Id", exists (select from changed) as changed from ${kind}s where ${key} = @id`,
  );

/** Blocks or unblocks, at once for every endpoint. @returns `changed`: the status differed; null without such a row */
export const updateStatus = {
  client: setStatus('client'),
  resource: setStatus('resource'),
  /** By the key of the login. */
  user: setStatus('user', 'login_key'),
};
