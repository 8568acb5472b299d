import type { Status } from '../../rules/request/client.ts';
import { findAll, findOne, write } from '../database/query.ts';

/** A server of the payment API that may introspect tokens. */
export interface Resource {
  readonly resourceId: string;
  readonly name: string;
  readonly status: Status;
}

const RESOURCE_COLUMNS = 'resource_id as "resourceId", name, status';

export const findResource = findOne<Pick<Resource, 'resourceId'>, Resource>('resource-find')`
  select ${RESOURCE_COLUMNS} from resources where resource_id = @resourceId`;

export const listResources = findAll<void, Resource>('resource-list')`
  select ${RESOURCE_COLUMNS} from resources order by created_at, resource_id`;

export const insertResource = write<Pick<Resource, 'resourceId' | 'name'>>('resource-insert')`
  insert into resources (resource_id, name) values (@resourceId, @name)`;
