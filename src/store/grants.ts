import type { GrantTimes } from '../rules/grantState.ts';
import { batched } from './batch.ts';
import { type Database, query, queryBatch } from './database.ts';

/** The authorization of one user for one application instance, in whatever state it is. */
export interface Grant extends GrantTimes {
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly revision: number;
  readonly scope: string;
  readonly confirmedAt: Date;
  /** The database's clock when this was read. */
  readonly now: Date;
}

/** The select list of a {@link Grant}, of `grants g`. */
export const GRANT_COLUMNS = `g.grant_id as "grantId", g.user_id as "userId", g.client_id as "clientId",
  g.instance_name as "instanceName", g.revision, g.scope, g.confirmed_at as "confirmedAt",
  g.code_expires_at as "codeExpiresAt", g.token_issued_at as "tokenIssuedAt", g.revoked_at as "revokedAt",
  clock_timestamp() as now`;

/** Of `grants g`: `isLive` of `rules/grantState.ts`, where PostgreSQL has to know it. */
export const LIVE = 'is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)';

/** One application instance of one user. */
export interface Instance {
  /** The one id that its grant can have. */
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  /** How many live ones the user may have of this application. */
  readonly most: number;
}

/** What is known of an instance. */
export interface InstanceState {
  /** Null where the user never allowed it anything. */
  readonly grant: Grant | null;
  /**
   * Whether it is live, or may become so beside the others of this user and application. Only the newest grants of the
   * user are looked at; approval counts all.
   */
  readonly mayHold: boolean;
}

/** How many grants are read beside those that are looked for: a page is to cost no more, whatever a user has collected. */
const MAX_BESIDE = 1_000;

const find = {
  name: 'grant-find',
  text: `
select a.n::int as n, ${GRANT_COLUMNS},
       case when ${LIVE} then true
            else a.most > (select count(*)
                                 from (select * from grants where user_id = a.user_id
                                        order by confirmed_at desc limit a.most + ${MAX_BESIDE}) g
                                where g.client_id = a.client_id and ${LIVE})
        end as "mayHold"
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) with ordinality
       as a (grant_id, user_id, client_id, most, n)
  left join lateral (select * from grants where grant_id = a.grant_id offset 0) g on true`, // offset 0: see sessions.ts
};

/** The state of an application instance. */
export const findInstance = batched(findInstances);

async function findInstances(db: Database, instances: readonly Instance[]): Promise<InstanceState[]> {
  const rows = await queryBatch<Grant & { grantId: string | null; mayHold: boolean }>(db, find, instances, [
    instances.map(({ grantId }) => grantId),
    instances.map(({ userId }) => userId),
    instances.map(({ clientId }) => clientId),
    instances.map(({ most }) => most),
  ]);
  return rows.map((row, index) => {
    if (row === null) throw new Error(`grants: no answer about ${instances[index]?.grantId}`);
    return { grant: row.grantId === null ? null : row, mayHold: row.mayHold };
  });
}

const findOfUser = {
  name: 'grant-find-of-user',
  text: `select ${GRANT_COLUMNS} from grants g where g.user_id = $1 order by g.confirmed_at desc, g.grant_id`,
};

/** All grants of a user, newest first. */
export function findGrantsOfUser(db: Database, userId: string): Promise<Grant[]> {
  return query<Grant>(db, findOfUser, [userId]);
}
