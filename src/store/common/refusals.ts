import { REFUSALS_KEPT_DAYS } from '../../rules/common/lifetimes.ts';
import { findAll, writeEach } from '../database/query.ts';

/** The reason of a refused request: its log line's contents, without the user. */
interface KeptRefusal extends Readonly<Record<'reference' | 'method' | 'error' | 'rule', string>> {
  readonly at: Date;
  /** The requested path of ours; never a query. */
  readonly path: string;
  readonly status: number;
  /** Null for a note about the proxy. */
  readonly ruleId: string | null;
  /** The application named by the request: any text before storing, then a registered one or null. */
  readonly clientId: string | null;
}

/** A refusal with its network as a keyed digest of 32 bits, which reveals nothing about it. */
export type StoredRefusal = KeptRefusal & { readonly network: number };

/** Refusals kept of one network in one window: in a week it fills at most two thirds of the slots. */
export const MAX_REFUSALS_PER_NETWORK = 60;
export const WINDOW_MS = 600_000;
const WINDOW = `interval '${WINDOW_MS} milliseconds'`;

// No lock: processes that write at the same time may keep a few too many.
/** Keeps refusals, with a limit per network; if all slots are taken, replaces the oldest. */
export const insertRefusals = writeEach<StoredRefusal>('refusal-insert')`
insert into refusals (network, at, reference, method, path, status, error, rule, rule_id, client_id)
select network, at, reference, method, path, status, error, rule, rule_id,
       (select client_id from clients where client_id = r.client_id)
  from (select *, row_number() over (partition by network order by n) as place
          from @input(network bigint, at timestamptz, reference text, method text, path text, status int, error text,
                      rule text, rule_id text, client_id text)) r
 where place + (select count(*) from (select from refusals kept where kept.network = r.network and kept.at > clock_timestamp() - ${WINDOW}
                                       limit ${MAX_REFUSALS_PER_NETWORK}) recent) <= ${MAX_REFUSALS_PER_NETWORK}
on conflict (slot) do update
   set network = excluded.network, at = excluded.at, reference = excluded.reference, method = excluded.method, path = excluded.path,
       status = excluded.status, error = excluded.error, rule = excluded.rule, rule_id = excluded.rule_id,
       client_id = excluded.client_id`;

export const MAX_FOUND_REFUSALS = 50;

/** The newest refusals with this reference and of this application; null is any. */
export const findRefusals = findAll<
  Record<'reference' | 'clientId', string | null>,
  KeptRefusal & { clientName: string | null; network: string }
>('refusal-find')`
  select at, reference, method, path, r.status, error, rule, rule_id as "ruleId", client_id as "clientId", name as "clientName", network::text
    from refusals r left join clients using (client_id)
   where (@reference::text is null or reference = @reference) and (@clientId::text is null or client_id = @clientId)
     and at > clock_timestamp() - interval '${REFUSALS_KEPT_DAYS} days'
   order by at desc limit ${MAX_FOUND_REFUSALS}`;
