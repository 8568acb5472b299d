import {
  batchRefused,
  batchSent,
  PASSWORD_QUEUES,
  passwordRefused,
  passwordStarted,
  STATEMENT_FAILURES,
  statementEnded,
} from '../../signals/timings.ts';
import { BATCHES } from '../../store/database/batch.ts';
import { STATEMENTS } from '../../store/database/statement.ts';
import type { Metrics } from './metrics.ts';

/** Seconds: a request waits at most two. */
const BATCH_WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 2];
/** Requests: a batch takes at most 128. */
const BATCH_SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 127];
/** Seconds: the deadline is four and a half. */
const PASSWORD_WAIT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const UNNAMED = 'unnamed';

export function timeStatements(metrics: Metrics): void {
  const labels = { statement: [...STATEMENTS, UNNAMED] };
  const total = metrics.counter('assent_statements_total', labels);
  const seconds = metrics.counter('assent_statement_seconds_total', labels);
  const byReason = { ...labels, reason: STATEMENT_FAILURES };
  const failures = metrics.counter('assent_statement_failures_total', byReason);
  metrics.listen(statementEnded, ({ name, seconds: taken, failure }) => {
    const statement = name || UNNAMED;
    total.inc({ statement });
    seconds.inc({ statement }, taken);
    if (failure !== null) failures.inc({ statement, reason: failure });
  });
}

export function measureBatches(metrics: Metrics): void {
  const labels = { batch: [...BATCHES] };
  const size = metrics.histogram('assent_batch_size', labels, BATCH_SIZE_BUCKETS);
  const wait = metrics.histogram('assent_batch_wait_seconds', labels, BATCH_WAIT_BUCKETS);
  const refused = metrics.counter('assent_batch_refused_total', labels);
  metrics.listen(batchSent, ({ name, size: requests, waitSeconds }) => {
    size.observe({ batch: name }, requests);
    wait.observe({ batch: name }, waitSeconds);
  });
  metrics.listen(batchRefused, ({ name }) => refused.inc({ batch: name }));
}

export function measurePasswords(metrics: Metrics): void {
  const labels = { lane: PASSWORD_QUEUES };
  const wait = metrics.histogram('assent_password_wait_seconds', labels, PASSWORD_WAIT_BUCKETS);
  const refused = metrics.counter('assent_password_refused_total', labels);
  metrics.listen(passwordStarted, ({ queue, waitSeconds }) => wait.observe({ lane: queue }, waitSeconds));
  metrics.listen(passwordRefused, ({ queue }) => refused.inc({ lane: queue }));
}
