import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { Gauge } from 'prom-client';
import { waitingChecks } from '../../secrets/password.ts';
import { PASSWORD_QUEUES } from '../../signals/timings.ts';
import { findNotifyFacts } from '../../store/operate/notifyCursors.ts';
import { findTokenFacts } from '../../store/operate/operators.ts';
import { findSchemaFacts, type SchemaFacts } from '../../store/schema/auditPartitions.ts';
import type { DatabaseWatch } from '../../watch/databaseWatch.ts';
import type { MetricFactory, MetricName } from './metrics.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** When the tokens of operators in `OPERATORS_FILE` end; null for never. */
export type TokenEnds = () => readonly (Date | null)[];

export function registerGauges(
  app: FastifyInstance,
  metrics: MetricFactory,
  watch: DatabaseWatch,
  tokenEnds: TokenEnds = () => [],
): void {
  const { context, shutdown } = app;
  const { db } = context;
  const build = { version, node: process.version };
  metrics.gauge('assent_build_info', Object.keys(build), (gauge) => gauge.set(build, 1));
  metrics.gauge('assent_database_up', [], (gauge) => gauge.set(Number(watch.isUp)));
  metrics.gauge('assent_draining', [], (gauge) => gauge.set(Number(shutdown.isDraining)));
  metrics.gauge('assent_ready', [], (gauge) => gauge.set(Number(watch.isUp && !shutdown.isDraining)));
  const ofPool = (name: MetricName, read: () => number) =>
    metrics.gauge(name, ['pool'], (gauge) => gauge.set({ pool: 'primary' }, read()));
  ofPool('assent_pool_max_connections', () => db.options.max ?? 0);
  ofPool('assent_pool_connections', () => db.totalCount);
  ofPool('assent_pool_idle_connections', () => db.idleCount);
  ofPool('assent_pool_waiting_statements', () => db.waitingCount);
  describeSchema(metrics, db, watch, tokenEnds);
  metrics.gauge('assent_password_queue_length', ['lane'], (gauge) => {
    for (const queue of PASSWORD_QUEUES) gauge.set({ lane: queue }, waitingChecks(queue));
  });
}

/** Scrapes within this time share one query. */
const FACTS_MS = 10_000;
/** A scrape's longest wait for it; the previous facts suffice then. */
const FACTS_WAIT_MS = 500;

type Facts = SchemaFacts &
  Awaited<ReturnType<typeof findNotifyFacts>> &
  Awaited<ReturnType<typeof findTokenFacts>>;

/** Absent until the database has responded: 0 must not stand for an unknown number. */
function describeSchema(metrics: MetricFactory, db: pg.Pool, watch: DatabaseWatch, tokenEnds: TokenEnds) {
  let facts: Partial<Facts> = {};
  let asking = Promise.resolve();
  let askAt = Number.NEGATIVE_INFINITY;
  const ask = async () => {
    // Other gauges and the log report a failure; a server's role may not have been granted a new table yet.
    const asked = [findSchemaFacts(db), findNotifyFacts(db), findTokenFacts(db, { others: tokenEnds() })];
    const read = asked.map((one) => one.catch(() => ({})));
    facts = Object.assign({}, facts, ...(await Promise.all(read)));
  };
  const show = (fact: keyof Facts) => async (gauge: Gauge) => {
    if (watch.isUp && performance.now() >= askAt) {
      askAt = performance.now() + FACTS_MS;
      asking = ask();
    }
    await Promise.race([asking, sleep(FACTS_WAIT_MS, undefined, { ref: false })]);
    const { [fact]: value } = facts;
    if (value == null) gauge.remove();
    else gauge.set(value);
  };
  metrics.gauge('assent_audit_months_ahead', [], show('monthsAhead'));
  metrics.gauge('assent_notify_failing', [], show('notifyFailing'));
  metrics.gauge('assent_notify_lag_seconds', [], show('notifyLag'));
  metrics.gauge('assent_operator_token_expires_seconds', [], show('tokenLeft'));
  metrics.gauge('assent_schema_version', [], show('schemaVersion'));
}
