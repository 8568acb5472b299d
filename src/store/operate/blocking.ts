import type { Status } from '../../rules/request/client.ts';
import { findOne } from '../database/query.ts';

const setStatus = (kind: string) =>
  findOne<{ id: string; status: Status }, { changed: boolean }>(
    `${kind}-set-status`,
    `with changed as (
       update ${kind}s set status = @status where ${kind}_id = @id and status <> @status returning ${kind}_id
     )
     select exists (select from changed) as changed from ${kind}s where ${kind}_id = @id`,
  );

/** Blocks or unblocks, at once for every endpoint. @returns `changed`: the status differed; null without such a row */
export const updateStatus = {
  client: setStatus('client'),
  resource: setStatus('resource'),
  user: setStatus('user'),
};
