import type { TestDatabase } from './database.ts';

type Setting = readonly [name: string, value: string];

/** The same of settings that may only take time. */
export const SLOW_SETTINGS: readonly Setting[] = [
  ['plan_cache_mode', 'force_custom_plan'],
  ['jit', 'on'],
  ['jit_above_cost', '0'],
  ['client_min_messages', 'debug5'],
  ['constraint_exclusion', 'on'],
  ['enable_indexscan', 'off'],
  ['enable_seqscan', 'off'],
  ['enable_partition_pruning', 'off'],
  ['join_collapse_limit', '1'],
  ['debug_parallel_query', 'on'],
  ['work_mem', '64'],
];

/**
 * Settings of a session that other programs may want for their database or role, and that must not change what Assent does. Not
 * among them: what decides where Assent works (`role`, `search_path`), and an operator's limits (`default_transaction_read_only`,
 * `transaction_timeout`, `idle_in_transaction_session_timeout`, `temp_file_limit`), which lead to 503; `synchronous_commit` and
 * `session_replication_role`.
 */
export const WRONG_SETTINGS: readonly Setting[] = [
  ['standard_conforming_strings', 'off'],
  ['backslash_quote', 'off'],
  ['escape_string_warning', 'on'],
  ['bytea_output', 'escape'],
  ['datestyle', 'SQL, DMY'],
  ['datestyle', 'German'],
  ['intervalstyle', 'sql_standard'],
  ['timezone', 'Asia/Kathmandu'],
  ['timezone', '<Z>-13:30'],
  ['timezone_abbreviations', 'India'],
  ['client_encoding', 'LATIN1'],
  ['extra_float_digits', '-15'],
  ['array_nulls', 'off'],
  ['transform_null_equals', 'on'],
  ['quote_all_identifiers', 'on'],
  ['xmloption', 'document'],
  ['lc_messages', 'C'],
  ['lc_numeric', 'C'],
  ['lc_monetary', 'C'],
  ['lc_time', 'C'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_isolation', 'repeatable read'],
  ['default_transaction_deferrable', 'on'],
  ['row_security', 'off'],
  ['check_function_bodies', 'off'],
  ['exit_on_error', 'on'],
  ['statement_timeout', '1000'],
  ['lock_timeout', '1'],
  // Not less: a busy machine needs some of it between signing in and the first statement.
  ['idle_session_timeout', '2000'],
];

/** @param whose such as `database x` or `role x` */
export const setFor = ({ pool }: Pick<TestDatabase, 'pool'>, whose: string, name: string, value: string) =>
  pool.query(`alter ${whose} set ${name} = '${value}'`);
