import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Signal } from '../../signals/signal.ts';

const HELP = {
  assent_requests_total: 'Answered requests; error is the code of a refusal, empty for none.',
  assent_request_seconds: 'Time to the answer.',
  assent_unavailable_total:
    'Requests answered 503 because the database was away or more came than can be answered.',
  assent_faults_total: 'Requests answered 500: a fault of ours, with its cause in the log.',
  assent_decisions_total: 'Decisions of users that were written: Allow and Reject.',
  assent_grants_ended_total:
    'Authorizations annulled by a new approval, or revoked by their user, their application, or a code that came twice.',
  assent_exchanges_total: 'Codes brought to /oauth/token: tokens issued, and the rule of each refusal.',
  assent_sign_ins_total: 'Attempts to sign in.',
  assent_payment_confirmations_total: 'Attempts to confirm a request by the payment password.',
  assent_throttled_total: 'Attempts that were told to wait, by the counter that was full.',
  assent_statements_total: 'Statements that PostgreSQL answered or that failed.',
  assent_statement_seconds_total: 'Time of the statements, their way to PostgreSQL and back included.',
  assent_statement_failures_total:
    'Statements that failed: out of time, a lock that was not free, a lost connection, anything else.',
  assent_batch_size: 'Requests that one statement answered.',
  assent_batch_wait_seconds:
    'How long the request of each batch waited that waited longest, until the batch was sent.',
  assent_batch_refused_total: 'Requests turned away because too many waited, or for too long.',
  assent_password_wait_seconds:
    'How long passwords waited for a thread; known: of known devices and signed-in users.',
  assent_password_refused_total: 'Passwords that were not checked: no place, or not in time.',
  assent_build_info: 'Always 1, with the version of Assent and of Node.',
  assent_database_up: '0 while the database is away, as the log says it; otherwise 1.',
  assent_draining: '1 from the signal to end until the end.',
  assent_ready: '1 while requests can be carried out: the database is up, and no end is near.',
  assent_pool_max_connections: 'Connections to PostgreSQL that a pool may have.',
  assent_pool_connections: 'Connections that a pool has.',
  assent_pool_idle_connections: 'Connections that are not in use.',
  assent_pool_waiting_statements: 'Statements that wait for a connection.',
  assent_audit_months_ahead: 'Months from now on for which the audit trail has partitions.',
  assent_schema_version: 'The last migration that the database has.',
  assent_password_queue_length: 'Passwords that wait for their check.',
};

export type MetricName = keyof typeof HELP;

/** A metric's labels with all their values: each series starts at 0, so the first event's increase is visible. */
type Labels = Readonly<Record<string, readonly string[]>>;

/** Makes the metrics of its registry, which lists them in order of creation. */
export class Metrics {
  readonly registry = new Registry();
  readonly #subscriptions: (() => void)[] = [];

  listen<Message extends object>(signal: Signal<Message>, listener: (message: Message) => void): void {
    this.#subscriptions.push(signal.listen(listener));
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
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
  }
  return all;
}
