/** The size of each table, and autovacuum's work; the partitions of the audit trail as one. */
const SIZES = `
select case when s.relname like 'audit_events%' then 'audit_events' else s.relname end as name,
       sum(n_live_tup)::float8 as live, sum(n_dead_tup)::float8 as dead,
       sum(n_tup_upd)::float8 as updates, sum(n_tup_hot_upd)::float8 as hot, sum(autovacuum_count)::float8 as vacuums,
       sum(pg_relation_size(s.relid))::float8 as heap, sum(pg_indexes_size(s.relid))::float8 as indexes,
       sum(c.relallvisible)::float8 as visible, sum(c.relpages)::float8 as pages
  from pg_stat_user_tables s join pg_class c on c.oid = s.relid
 where s.relname <> 'schema_migrations' group by 1 order by heap desc`;

const SAMPLES = 40;
const SETTLE_MS = 30_000;
const MB = 2 ** 20;

/** @typedef {{ name: string, live: number, dead: number, updates: number, hot: number, vacuums: number, heap: number, indexes: number, visible: number, pages: number }} Size */

/** The sizes of all tables from time to time. */
export class Samples {
  #db;
  #every;
  #next = 0;
  /** @type {Size[][]} */
  #taken = [];

  /** @param {import('pg').Client} db @param {number} transitions in all */
  constructor(db, transitions) {
    this.#db = db;
    this.#every = transitions / SAMPLES;
  }

  /** @param {number} done transitions so far */
  async take(done) {
    if (done < this.#next) return;
    this.#next += this.#every;
    this.#taken.push((await this.#db.query(SIZES)).rows);
    process.stderr.write(`${done} transitions\n`);
  }

  /** The last sample, after giving autovacuum time to run. */
  async settle() {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    this.#taken.push((await this.#db.query(SIZES)).rows);
  }

  /** A Markdown table: sizes in MB at the start, after a quarter, half and all of it; the most dead rows in any sample. */
  report() {
    const [first = [], last = []] = [this.#taken[0], this.#taken.at(-1)];
    const at = (/** @type {number} */ part) => this.#taken[Math.floor((this.#taken.length - 2) * part)] ?? [];
    const rows = last.map(({ name, updates, hot, vacuums, visible, pages }) => {
      const sizes = [first, at(0.25), at(0.5), last].map((sample) => sizesIn(sample, name));
      const most = Math.max(...this.#taken.map((sample) => named(sample, name)?.dead ?? 0));
      const share = updates === 0 ? '-' : `${Math.round((100 * hot) / updates)} %`;
      return [
        name,
        ...sizes,
        share,
        Math.round(most),
        vacuums,
        `${Math.round((100 * visible) / Math.max(1, pages))} %`,
      ];
    });
    const head = [
      'table',
      'MB at first',
      'after ¼',
      'after ½',
      'at the end',
      'HOT',
      'dead rows at most',
      'vacuums',
      'all-visible',
    ];
    return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  }
}

/** @param {Size[]} sample @param {string} name */
const named = (sample, name) => sample.find((one) => one.name === name);

/** Of the table and of its indexes. @param {Size[]} sample @param {string} name */
function sizesIn(sample, name) {
  const { heap = 0, indexes = 0 } = named(sample, name) ?? {};
  return `${Math.round(heap / MB)} + ${Math.round(indexes / MB)}`;
}
