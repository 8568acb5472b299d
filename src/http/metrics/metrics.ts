import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { TypedChannel } from '../../signals/signal.ts';

const HELP = {
  assent_requests_total: 'Answered requests; error is the error code, empty if there is none.',
  assent_request_seconds: 'Time until the response.',
  assent_unavailable_total: 'Requests answered 503: the database was unreachable or the server overloaded.',
  assent_faults_total: 'Requests answered 500: internal errors, whose cause is in the log.',
  assent_decisions_total: 'Recorded decisions of users: Allow and Reject.',
  assent_grants_ended_total:
    'Authorizations annulled by a new approval, or revoked by their user, their application, or a replayed code.',
  assent_exchanges_total: 'Codes presented at /oauth/token: tokens issued, and refusals by rule.',
  assent_payments_total: 'Payments at /oauth/spend: reserved, and refusals by reason.',
  assent_sign_ins_total: 'Attempts to sign in.',
  assent_payment_confirmations_total: 'Attempts to confirm a request by the payment password.',
  assent_throttled_total: 'Throttled attempts, by the limit that was reached.',
  assent_operator_failures_total:
    'Requests at the operators’ API without a valid token (401, 429), or unanswered (500, 503).',
  assent_statements_total: 'SQL statements, completed or failed.',
  assent_statement_seconds_total: 'Time of SQL statements, including the network round trip.',
  assent_statement_failures_total: 'Failed SQL statements: timeout, lock timeout, lost connection, other.',
  assent_batch_size: 'Requests in one batch.',
  assent_batch_wait_seconds: 'Longest wait of any request in a batch, until the batch was sent.',
  assent_batch_refused_total: 'Requests refused because the queue was full or they waited too long.',
  assent_password_wait_seconds:
    'Time that passwords waited for a thread; known: from known devices and signed-in users.',
  assent_password_refused_total: 'Password checks refused: queue full, or deadline passed.',
  assent_build_info: 'Always 1, with the version of Assent and of Node.',
  assent_database_up: '0 while the database is unreachable, otherwise 1.',
  assent_draining: '1 while the server drains, otherwise 0.',
  assent_ready: '1 if ready: the database is up, and the server does not drain.',
  assent_pool_max_connections: 'Maximum number of connections to PostgreSQL in a pool.',
  assent_pool_connections: 'Connections to PostgreSQL in a pool.',
  assent_pool_idle_connections: 'Idle connections in a pool.',
  assent_pool_waiting_statements: 'Statements that wait for a connection of a pool.',
  assent_audit_months_ahead: 'Future months for which the audit trail has partitions.',
  assent_notify_failing: 'Addresses for webhooks that fail, or are paused.',
  assent_notify_lag_seconds:
    'Age of the oldest event that `assent notify` may not have read; absent without it.',
  assent_operator_token_expires_seconds:
    'Time until the next token of an operator ends; absent if none does.',
  assent_schema_version: 'Number of the last migration applied to the database.',
  assent_password_queue_length: 'Passwords that wait to be checked.',
};

export type MetricName = keyof typeof HELP;

/** A metric's labels with all their values: each series starts at 0, so the first event's increase is visible. */
type Labels = Readonly<Record<string, readonly string[]>>;

/** Makes the metrics of its registry, which lists them in order of creation. */
export class MetricFactory {
  readonly registry = new Registry();
  readonly #subscriptions: (() => void)[] = [];

  listen<Message extends object>(signal: TypedChannel<Message>, listener: (message: Message) => void): void {
    signal.subscribe(listener);
    this.#subscriptions.push(() => signal.unsubscribe(listener));
  }

  stopListening(): void {
    for (const end of this.#subscriptions) end();
  }

  counter(name: MetricName, labels: Labels = {}): Counter<string> {
    const counter = new Counter<string>(this.#configure(name, Object.keys(labels)));
    for (const values of combinationsOf(labels)) counter.inc(values, 0);
    return counter;
  }

  histogram(name: MetricName, labels: Labels, buckets: number[]): Histogram<string> {
    const histogram = new Histogram<string>({ ...this.#configure(name, Object.keys(labels)), buckets });
    for (const values of combinationsOf(labels)) histogram.zero(values);
    return histogram;
  }

  /** @param collect sets it at scrape time */
  gauge(name: MetricName, labelNames: string[], collect: (gauge: Gauge) => void | Promise<void>): void {
    new Gauge({
      ...this.#configure(name, labelNames),
      collect() {
        return collect(this);
      },
    });
  }

  #configure(name: MetricName, labelNames: string[]) {
    return { name, help: HELP[name], labelNames, registers: [this.registry] };
  }
}

function combinationsOf(labels: Labels): Record<string, string>[] {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels))
    all = all.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
  return all;
}
