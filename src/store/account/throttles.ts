import type { CounterState } from '../../rules/account/throttle.ts';
import type { RequestMeta } from '../../rules/common/caller.ts';
import { type AuditKind, CALLER_FROM_PARAMETERS, insertEventsSql } from '../common/auditEvents.ts';
import { findAll, findExactlyOne, write, writeEach } from '../database/query.ts';

/** The counters in these slots. Writes and locks nothing. */
export const findThrottles = findAll<{ slots: readonly number[] }, CounterState>('throttle-find')`
with clock as materialized (select clock_timestamp() as now)
select input.slot, coalesce(level, 0) as level, coalesce(counted_at, now) as "countedAt", coalesce(free_at, now) as "freeAt", now
  from unnest(@slots::int[]) as input (slot) cross join clock left join throttles using (slot)`;

/**
 * Locks counters until the transaction ends: each of several concurrent attempts sees the one before, on any replica. The
 * update changes nothing: it locks an existing row, and returns its current state. @param slots unique and sorted:
 * transactions that lock in one order can't deadlock
 */
export const lockThrottles = findAll<{ slots: readonly number[] }, CounterState>('throttle-lock')`
insert into throttles as t (slot) select input.slot from unnest(@slots::int[]) as input (slot) order by input.slot
on conflict (slot) do update set level = t.level
returning slot, level, counted_at as "countedAt", free_at as "freeAt", clock_timestamp() as now`;

export const updateThrottles = writeEach<CounterState>('throttle-update')`
update throttles t set level = input.level, counted_at = input.counted_at, free_at = input.free_at
  from @input(slot int, level float8, counted_at timestamptz, free_at timestamptz) where t.slot = input.slot`;

// A separate statement, not part of counting: an attempt that is cleared again must not use up the hour's event.
/** Notes whose password was guessed at these slots. Records it at most hourly for each `slot`; not for a null `userId`, in nearly the same time. */
export const recordGuessing = write<
  RequestMeta & { slot: number; slots: readonly number[]; userId: string | null } & {
    kind: Extract<AuditKind, `${string}_guessed`>;
  }
>('throttle-note-guess')`
with waiting as (
  select slot, slot = @slot and coalesce(noted_at < clock_timestamp() - interval '1 hour', true) as is_due
    from throttles where slot = any (@slots::int[]) order by slot for update
), noted as (
  update throttles t set user_id = @userId, noted_at = case when is_due then clock_timestamp() else noted_at end
    from waiting where t.slot = waiting.slot returning is_due
)
${insertEventsSql({ kind: '@kind', user_id: '@userId', ...CALLER_FROM_PARAMETERS }, 'noted where is_due and @userId::uuid is not null')}`;

/** The seconds of a user's longest wait after wrong passwords; 0 for none. */
export const findWait = findExactlyOne<{ userId: string }, { seconds: number }>('throttle-find-wait')`
select coalesce(ceil(extract(epoch from max(free_at) - clock_timestamp())), 0)::int as seconds
  from throttles where user_id = @userId and free_at > clock_timestamp()`;

/** Forgets the attempts that made a user wait, in the order of locks. @returns at how many counters */
export const endWaits = write<{ userId: string }>('throttle-end-waits')`
update throttles set level = 0, free_at = clock_timestamp() where slot in (
  select slot from throttles where user_id = @userId and level > 0 order by slot for update)`;
