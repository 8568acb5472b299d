import type { TestDatabase } from './database.ts';

/** Every row that matters, as one digest, equal before and after if nothing was written: not when a session was last seen or a grant used, nor what operators did. */
export async function rowsOf({ pool }: TestDatabase): Promise<string> {
  const { rows } = await pool.query<{ rows: string }>(`
    select md5(concat_ws('#',
      (select string_agg((to_jsonb(g) - 'last_used_on')::text, '|' order by g.grant_id) from grants g),
      (select string_agg(a::text, '|' order by a::text) from audit_events a where operator is null),
      (select string_agg(row(session_hash, user_id)::text, '|' order by session_hash) from sessions),
      (select string_agg((to_jsonb(u) - 'language')::text, '|' order by u.user_id) from users u),
      (select string_agg(c::text, '|' order by c.client_id) from clients c),
      (select string_agg(r::text, '|' order by r.resource_id) from resources r))) as rows`);
  return rows[0]?.rows ?? '';
}

/** Takes back all tries at passwords, so that the next one is looked at. The counters stay: they may be in use. */
export async function forgetTries({ pool }: TestDatabase): Promise<void> {
  await pool.query(`
    begin; lock table throttles in exclusive mode;
    update throttles set level = 0, free_at = clock_timestamp();
    commit`);
}
