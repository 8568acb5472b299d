import type { CounterState } from '../../rules/account/throttle.ts';
import type { RequestMeta } from '../../rules/common/caller.ts';
import { type AuditKind, OF_CALLER, recordEvents } from '../common/auditEvents.ts';
import { findAll, write, writeEach } from '../database/query.ts';

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
/** Records guessing of a password, at most hourly for each counter; nothing for a null `userId`, in nearly the same time. */
export const recordGuessing = write<
  RequestMeta & { slot: number; kind: Extract<AuditKind, `${string}_guessed`>; userId: string | null }
>('throttle-note-guess')`
with due as (
  update throttles set noted_at = clock_timestamp()
   where slot = @slot and (noted_at is null or noted_at < clock_timestamp() - interval '1 hour')
  returning slot
)
${recordEvents({ kind: '@kind', user_id: '@userId', ...OF_CALLER }, 'due where @userId::uuid is not null')}`;
