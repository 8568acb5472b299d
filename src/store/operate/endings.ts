import type pg from 'pg';
import { EVENT_GRANT, insertEventsSql } from '../common/auditEvents.ts';
import { findExactlyOne, queryPages, write } from '../database/query.ts';
import { statement } from '../database/statement.ts';

// Nothing happens at the moment when a token's time is over, so `maintain` writes it to the trail afterwards: since its last run,
// and each once. No index has the ends of tokens, because each exchange would have to change it: the table is read.

/** The days before its end on which an authorization's coming end is an event. */
const ENDS_SOON_DAYS = 30;

/** As `is_live` of the schema has it. */
const ENDS_AT = `(g.token_issued_at at time zone 'UTC' + case when g.token_issued_at < '2018-02-07T00:00:00Z'
                  then interval '6 months' else interval '36 months' end) at time zone 'UTC'`;

type Between = Record<'since' | 'until', string>;

/** The event that a grant is due; null for none. */
const DUE = `case when g.revoked_at is not null then null
       when ${ENDS_AT} > @since::timestamptz and ${ENDS_AT} <= @until::timestamptz then 'expired'
       when ${ENDS_AT} - interval '${ENDS_SOON_DAYS} days' > @since::timestamptz
        and ${ENDS_AT} - interval '${ENDS_SOON_DAYS} days' <= @until::timestamptz then 'ends_soon' end`;

const list = statement<Between>(
  '',
  `select g.grant_id as "grantId" from grants g where g.token_issued_at is not null and ${DUE} is not null`,
);

const note = write<Between & { grantIds: readonly string[] }>('ending-note')`
${insertEventsSql(
  { kind: 'due' as `case ${string}`, ...EVENT_GRANT, detail: `jsonb_build_object('ends_at', ends_at)` },
  `(select g.*, ${ENDS_AT} as ends_at, ${DUE} as due from grants g where grant_id = any (@grantIds::uuid[])) g
 where due is not null and not exists (select from audit_events e where e.user_id = g.user_id and e.at > @since::timestamptz
   and e.kind = due and e.grant_id = g.grant_id)`,
)}`;

const findSince = findExactlyOne<void, Between>('ending-since')`
select coalesce((select value from settings where name = 'endings_until'), clock_timestamp()::text) as since,
       clock_timestamp()::text as until`;

const saveUntil = write<{ until: string }>('ending-until')`
insert into settings (name, value) values ('endings_until', @until)
on conflict (name) do update set value = excluded.value, set_at = clock_timestamp()`;

/** Writes the events `expired` and `ends_soon` since the last time, in batches; the first time there are none. @returns how many */
export async function noteEndings(pool: pg.Pool): Promise<number> {
  const between = await findSince(pool);
  let noted = 0;
  for await (const page of queryPages<{ grantId: string }>(pool, list(between)))
    noted += await note(pool, { ...between, grantIds: page.map(({ grantId }) => grantId) });
  await saveUntil(pool, between);
  return noted;
}
