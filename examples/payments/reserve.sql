-- $1 grant_id, $2 iat, $3 the payment's key, $4 the payment itself, $5 the right whose budget it uses, $6 its amount,
-- $7, $8 and $9 period_days, amount and largest of that right (null where there is none); amounts as text.
-- The payment is compared as text: its fields in a fixed order, amounts in one form (250.00). The right is its name, target (in NFKC)
-- and target_type in a fixed form, without the limit: ["payment-shop",null,null].
--
-- Two concurrent payments compute the same number, and the primary key admits only one of them. The other gets 'again', and counts
-- the first on its next try. So payment n has counted every payment from 1 to n - 1, without any lock. In any interval as long as
-- the period, the payment with the highest number has counted all the others, whatever the clock does.
--
-- Hours, not days: a day has 23 or 25 hours when clocks change. A one-time payment is identified by grant_id and iat: a new
-- authorization has a new iat, and allows one payment again.
with known as (
  select released_at, request = $4::text as is_same from payments where grant_id = $1::uuid and key = $3::text
), judged as (
  select (select coalesce(max(number), 0) + 1 from payments where grant_id = $1::uuid) as number,
         case when $7::int is null
              then $6::numeric = $8::numeric
                   and not exists (select from payments where grant_id = $1::uuid and authorized_at = $2::bigint
                                                          and released_at is null)
              else $6::numeric <= coalesce($9::numeric, $8::numeric)
                   and $6::numeric + (select coalesce(sum(amount), 0) from payments
                                       where grant_id = $1::uuid and budget = $5::text and released_at is null
                                         and paid_at > statement_timestamp() - $7::int * interval '24 hours')
                       <= $8::numeric end as fits
), written as (
  insert into payments (grant_id, number, authorized_at, key, request, budget, amount)
  select $1::uuid, number, $2::bigint, $3::text, $4::text, $5::text, $6::numeric
    from judged where fits
  on conflict do nothing
  returning number
)
select case when not known.is_same then 'key_reused'
            when known.released_at is not null then 'released'
            when known.is_same or written.number is not null then 'reserved'
            when not fits then 'refused'
            else 'again' end as verdict
  from judged left join known on true left join written on true
