import type { FastifyInstance } from 'fastify';
import { type Counter, collectDefaultMetrics } from 'prom-client';
import { type EventName, eventChannel, METRIC_EVENTS } from '../../signals/events.ts';
import {
  batchRefusalChannel,
  batchSentChannel,
  PASSWORD_QUEUES,
  passwordRefusedChannel,
  passwordStartedChannel,
  STATEMENT_FAILURES,
  statementChannel,
} from '../../signals/timings.ts';
import { BATCHES } from '../../store/database/batch.ts';
import { STATEMENT_NAMES } from '../../store/database/statement.ts';
import type { DatabaseWatch } from '../../watch/databaseWatch.ts';
import { MetricFactory, type MetricName } from './metrics.ts';
import { registerGauges, type TokenEnds } from './state.ts';

/** Counts and measures this process for Prometheus. Labels are few and fixed, never taken from a request. */
export function registerMetrics(app: FastifyInstance, watch: DatabaseWatch, tokenEnds?: TokenEnds): void {
  const metrics = new MetricFactory();
  const { registry } = metrics;
  collectDefaultMetrics({ register: registry });
  // Without gauges that have a counter's name, and their duplicates.
  for (const { name } of registry.getMetricsAsArray())
    if (/^nodejs_active_(?!resources$)/.test(name)) registry.removeSingleMetric(name);
  countRequests(app, metrics);
  countEvents(metrics);
  timeStatements(metrics);
  measureBatches(metrics);
  measurePasswords(metrics);
  app.addHook('onClose', async () => metrics.stopListening());
  registerGauges(app, metrics, watch, tokenEnds);
  app.decorate('metrics', registry);
}

/** Seconds: from an exchange on an idle database to one that waited for a lock in vain. */
const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

function countRequests(app: FastifyInstance, metrics: MetricFactory): void {
  const requests = metrics.counter('assent_requests_total', { method: [], route: [], status: [], error: [] });
  const seconds = metrics.histogram('assent_request_seconds', { route: [] }, LATENCY_BUCKETS);
  const reasons = { reason: ['database', 'overload', 'provider'] };
  const unavailable = metrics.counter('assent_unavailable_total', reasons);
  const faults = metrics.counter('assent_faults_total');
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const error = request.logFields?.error ?? '';
    requests.inc({ method: request.method, route, status: reply.statusCode, error });
    if (reply.statusCode === 500) faults.inc();
    if (reply.statusCode === 503 && request.logFields !== null)
      unavailable.inc({ reason: request.logFields.rule_id });
    seconds.observe({ route }, reply.elapsedTime / 1000);
    done();
  });
}

/** The counter of each event, and its label for the outcomes. */
const COUNTERS: Readonly<Record<EventName, readonly [MetricName, label: string]>> = {
  decision: ['assent_decisions_total', 'decision'],
  grantEnd: ['assent_grants_ended_total', 'by'],
  exchange: ['assent_exchanges_total', 'outcome'],
  payment: ['assent_payments_total', 'verdict'],
  signIn: ['assent_sign_ins_total', 'outcome'],
  paymentConfirmation: ['assent_payment_confirmations_total', 'outcome'],
  throttle: ['assent_throttled_total', 'by'],
  operatorFailure: ['assent_operator_failures_total', 'status'],
};

function countEvents(metrics: MetricFactory): void {
  const counters = new Map<string, Counter>();
  for (const [what, [name, label]] of Object.entries(COUNTERS))
    counters.set(what, metrics.counter(name, { [label]: METRIC_EVENTS[what as EventName] }));
  metrics.listen(eventChannel, ({ what, outcome, times }) => {
    counters.get(what)?.inc({ [COUNTERS[what][1]]: outcome }, times);
  });
}

/** Seconds: a request waits at most two. */
const BATCH_WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 2];
/** Requests: a batch takes at most 128. */
const BATCH_SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 127];
/** Seconds: the deadline is four and a half. */
const PASSWORD_WAIT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const UNNAMED = 'unnamed';

function timeStatements(metrics: MetricFactory): void {
  const labels = { statement: [...STATEMENT_NAMES, UNNAMED] };
  const total = metrics.counter('assent_statements_total', labels);
  const seconds = metrics.counter('assent_statement_seconds_total', labels);
  const byReason = { ...labels, reason: STATEMENT_FAILURES };
  const failures = metrics.counter('assent_statement_failures_total', byReason);
  metrics.listen(statementChannel, ({ name, seconds: taken, failure }) => {
    const statement = name || UNNAMED;
    total.inc({ statement });
    seconds.inc({ statement }, taken);
    if (failure !== null) failures.inc({ statement, reason: failure });
  });
}

function measureBatches(metrics: MetricFactory): void {
  const labels = { batch: [...BATCHES] };
  const size = metrics.histogram('assent_batch_size', labels, BATCH_SIZE_BUCKETS);
  const wait = metrics.histogram('assent_batch_wait_seconds', labels, BATCH_WAIT_BUCKETS);
  const refused = metrics.counter('assent_batch_refused_total', labels);
  metrics.listen(batchSentChannel, ({ name, size: requests, waitSeconds }) => {
    size.observe({ batch: name }, requests);
    wait.observe({ batch: name }, waitSeconds);
  });
  metrics.listen(batchRefusalChannel, ({ name }) => refused.inc({ batch: name }));
}

function measurePasswords(metrics: MetricFactory): void {
  const labels = { lane: PASSWORD_QUEUES };
  const wait = metrics.histogram('assent_password_wait_seconds', labels, PASSWORD_WAIT_BUCKETS);
  const refused = metrics.counter('assent_password_refused_total', labels);
  metrics.listen(passwordStartedChannel, ({ queue, waitSeconds }) =>
    wait.observe({ lane: queue }, waitSeconds),
  );
  metrics.listen(passwordRefusedChannel, ({ queue }) => refused.inc({ lane: queue }));
}
