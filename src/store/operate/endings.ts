import type pg from 'pg';
import { EVENT_GRANT, insertEventsSql } from '../common/auditEvents.ts';
import { lastDaysSql } from '../common/grants.ts';
import { findExactlyOne, queryPages, write } from '../database/query.ts';
import { statement } from '../database/statement.ts';

// Nothing happens at the moment when the time of a token, or of a right, is over, so `maintain` writes it to the trail afterwards:
// since its last run, and each once. No index has the ends of tokens, because each exchange would have to change it: the table is read.

/** The days before it on which an end is an event, except of a right that was allowed for less than twice as long. */
const ENDS_SOON_DAYS = 30;

/** As `is_live` of the schema has it. */
const ENDS_AT = `(g.token_issued_at at time zone 'UTC' + case when g.token_issued_at < '2018-02-07T00:00:00Z'
                  then interval '6 months' else interval '36 months' end) at time zone 'UTC'`;

type Between = Record<'since' | 'until', string>;

/** Holds for each grant that is due, and for few others: without it PostgreSQL would compute the ends of all. */
const MAY_BE_DUE = `(position('.until(' in g.scope) > 0 or g.token_issued_at < '2018-02-07T00:00:00Z'
    or g.token_issued_at between @since::timestamptz - interval '36 months 5 days'
                             and @until::timestamptz - interval '36 months' + interval '${ENDS_SOON_DAYS + 5} days')`;

/** Grants with each end that is due, and its event. */
const DUE = `(
  select g.*, e.ends_at, case when e.ends_at <= @until::timestamptz then e.kind else 'ends_soon' end as due
    from grants g
    cross join lateral (select ${ENDS_AT} as ends_at) token
    cross join lateral (select 'expired' as kind, token.ends_at
      union all select 'right_expired', (day + 1)::timestamp at time zone 'UTC' from (${lastDaysSql('g.scope')}) of_rights(day)) e
   where g.token_issued_at is not null and g.revoked_at is null and ${MAY_BE_DUE} and (e.kind = 'expired' or e.ends_at < token.ends_at)
     and (e.ends_at > @since::timestamptz and e.ends_at <= @until::timestamptz
       or e.ends_at - interval '${ENDS_SOON_DAYS} days' > @since::timestamptz
      and e.ends_at - interval '${ENDS_SOON_DAYS} days' <= @until::timestamptz
      and (e.kind = 'expired' or e.ends_at - interval '${2 * ENDS_SOON_DAYS} days' > g.confirmed_at))) g`;

// Not distinct: for a sorted result PostgreSQL reads the table by its key, at random.
const list = statement<Between>('', `select grant_id as "grantId" from ${DUE}`);

const note = write<Between & { grantIds: readonly string[] }>('ending-note')`
${insertEventsSql(
  { kind: 'due', ...EVENT_GRANT, detail: `jsonb_build_object('ends_at', ends_at)` },
  `${DUE}
 where grant_id = any (@grantIds::uuid[]) and not exists (select from audit_events e where e.user_id = g.user_id and e.at > @since::timestamptz
   and e.kind = due and e.grant_id = g.grant_id and (e.detail ->> 'ends_at')::timestamptz = g.ends_at)`,
)}`;

const findSince = findExactlyOne<void, Between>('ending-since')`
select coalesce((select value from settings where name = 'endings_until'), clock_timestamp()::text) as since,
       clock_timestamp()::text as until`;

const saveUntil = write<{ until: string }>('ending-until')`
insert into settings (name, value) values ('endings_until', @until)
on conflict (name) do update set value = excluded.value, set_at = clock_timestamp()`;

/** Writes the events `expired`, `right_expired` and `ends_soon` since the last time, in batches; the first time there are none. @returns how many */
export async function noteEndings(pool: pg.Pool): Promise<number> {
  const between = await findSince(pool);
  let noted = 0;
  for await (const page of queryPages<{ grantId: string }>(pool, list(between)))
    noted += await note(pool, { ...between, grantIds: page.map(({ grantId }) => grantId) });
  await saveUntil(pool, between);
  return noted;
}
