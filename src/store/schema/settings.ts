import type { Database } from '../database/database.ts';
import { findAll, write } from '../database/query.ts';

/**
 * What all servers and commands of a database have in common. `currency` (ISO 4217) stays, because stored limits are sums without
 * one. `catalogue` (a digest), `default_limit` (`DAYS,SUM`) and `limits` (`each,until`) are those of the server that started last.
 */
export type SharedSettings = Readonly<Record<'currency' | 'catalogue' | 'default_limit' | 'limits', string>>;

const find = findAll<void, { name: string; value: string }>('settings-find')`
  select name, value from settings`;

/** Empty before the first start. */
export async function findSettings(db: Database): Promise<Partial<SharedSettings>> {
  return Object.fromEntries((await find(db)).map(({ name, value }) => [name, value]));
}

const keep = write<{ settings: string }>('settings-keep')`
  insert into settings (name, value) select key, value from json_each_text(@settings::json)
   where not exists (select from settings where name = 'currency' and value <> @settings::json ->> 'currency')
  on conflict (name) do update set value = excluded.value, set_at = clock_timestamp()
   where settings.name <> 'currency' and settings.value <> excluded.value`;

/** Stores settings, but none beside another currency. */
export async function saveSettings(db: Database, settings: SharedSettings): Promise<void> {
  await keep(db, { settings: JSON.stringify(settings) });
}

/** The variables that differ from the stored settings. */
export function differing(own: SharedSettings, stored: Partial<SharedSettings>): string[] {
  const names = Object.keys(own) as (keyof SharedSettings)[];
  return names.filter((name) => (stored[name] ?? own[name]) !== own[name]).map((name) => name.toUpperCase());
}
