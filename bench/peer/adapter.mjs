/** The table of {@link plainAdapter}: a payload by kind and id, in the provider's form. */
const TABLE = `
create table if not exists oidc_payloads (
  kind text not null, id text not null, payload jsonb not null,
  grant_id text, uid text, expires_at timestamptz,
  primary key (kind, id)
);
create index if not exists oidc_payloads_grant_id_idx on oidc_payloads (grant_id);
create index if not exists oidc_payloads_uid_idx on oidc_payloads (uid)`;

const UPSERT = `
insert into oidc_payloads (kind, id, payload, grant_id, uid, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6))
on conflict (kind, id) do update
   set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, expires_at = excluded.expires_at`;
const LIVE = '(expires_at is null or expires_at > clock_timestamp())';
const FIND = `select payload from oidc_payloads where kind = $1 and id = $2 and ${LIVE}`;
const FIND_BY_UID = `select payload from oidc_payloads where kind = $1 and uid = $2 and ${LIVE}`;
const CONSUME = `
update oidc_payloads set payload = jsonb_set(payload, '{consumed}', to_jsonb(extract(epoch from clock_timestamp())::int))
 where kind = $1 and id = $2`;
const DESTROY = 'delete from oidc_payloads where kind = $1 and id = $2';
const REVOKE = 'delete from oidc_payloads where grant_id = $1';

/** Makes a missing table. */
export async function prepareTable(pool) {
  await pool.query(TABLE);
}

/**
 * A plain PostgreSQL adapter: the methods in the provider's documentation, one named statement each. There
 * is no cache, just as in Assent.
 */
export function plainAdapter(pool) {
  const query = (name, text, values) => pool.query({ name, text, values });

  return class {
    constructor(kind) {
      this.kind = kind;
    }

    async upsert(id, payload, expiresIn = null) {
      const values = [this.kind, id, payload, payload.grantId ?? null, payload.uid ?? null, expiresIn];
      await query('upsert', UPSERT, values);
    }

    async find(id) {
      return (await query('find', FIND, [this.kind, id])).rows[0]?.payload;
    }

    async findByUid(uid) {
      return (await query('find-by-uid', FIND_BY_UID, [this.kind, uid])).rows[0]?.payload;
    }

    async consume(id) {
      await query('consume', CONSUME, [this.kind, id]);
    }

    async destroy(id) {
      await query('destroy', DESTROY, [this.kind, id]);
    }

    async revokeByGrantId(grantId) {
      await query('revoke', REVOKE, [grantId]);
    }
  };
}
