import { Counter, Histogram, type Registry } from 'prom-client';
import { timedNames } from '../../flows/vitals.ts';
import {
  batchRefused,
  batchSent,
  LANES,
  passwordRefused,
  passwordTurn,
  STATEMENT_FAILURES,
  statementEnded,
} from '../../signals/timings.ts';

/** Seconds: a request waits two at the most. */
const BATCH_WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 2];
/** Requests: 128 is as many as a batch takes. */
const BATCH_SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 127];
/** Seconds: nobody waits longer than four and a half. */
const PASSWORD_WAIT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
/** Statements without a name of their own. */
const UNNAMED = 'unnamed';

/** Measures statements, batches and the waiting for passwords. @returns what ends it */
export function measureTimings(registry: Registry): (() => void)[] {
  const registers = [registry];
  const { statements, batches } = timedNames();
  return [
    timeStatements(registers, [...statements, UNNAMED]),
    ...measureBatches(registers, batches),
    ...measurePasswords(registers),
  ];
}

function timeStatements(registers: Registry[], names: readonly string[]): () => void {
  const labelNames = ['statement'];
  const [name, help] = ['assent_statements_total', 'Statements that PostgreSQL answered or that failed.'];
  const total = new Counter({ name, help, labelNames, registers });
  const seconds = new Counter({
    name: 'assent_statement_seconds_total',
    help: 'Time of the statements, their way to PostgreSQL and back included.',
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: 'assent_statement_failures_total',
    help: 'Statements that failed: out of time, a lock that was not free, a lost connection, anything else.',
    labelNames: ['statement', 'reason'],
    registers,
  });
  for (const statement of names) {
    total.inc({ statement }, 0);
    seconds.inc({ statement }, 0);
    for (const reason of STATEMENT_FAILURES) failures.inc({ statement, reason }, 0);
  }
  return statementEnded.listen(({ name, seconds: taken, failure }) => {
    const statement = name || UNNAMED;
    total.inc({ statement });
    seconds.inc({ statement }, taken);
    if (failure !== null) failures.inc({ statement, reason: failure });
  });
}

function measureBatches(registers: Registry[], names: readonly string[]): (() => void)[] {
  const labelNames = ['batch'];
  const size = new Histogram({
    name: 'assent_batch_size',
    help: 'Requests that one statement answered.',
    labelNames,
    buckets: BATCH_SIZE_BUCKETS,
    registers,
  });
  const wait = new Histogram({
    name: 'assent_batch_wait_seconds',
    help: 'How long the request of each batch waited that waited longest, until the batch was sent.',
    labelNames,
    buckets: BATCH_WAIT_BUCKETS,
    registers,
  });
  const [name, help] = [
    'assent_batch_refused_total',
    'Requests turned away because too many waited, or for too long.',
  ];
  const refused = new Counter({ name, help, labelNames, registers });
  for (const batch of names) {
    size.zero({ batch });
    wait.zero({ batch });
    refused.inc({ batch }, 0);
  }
  return [
    batchSent.listen(({ name, size: requests, waitSeconds }) => {
      size.observe({ batch: name }, requests);
      wait.observe({ batch: name }, waitSeconds);
    }),
    batchRefused.listen(({ name }) => refused.inc({ batch: name })),
  ];
}

function measurePasswords(registers: Registry[]): (() => void)[] {
  const labelNames = ['lane'];
  const wait = new Histogram({
    name: 'assent_password_wait_seconds',
    help: 'How long passwords waited for a thread; known: of known devices and signed-in users.',
    labelNames,
    buckets: PASSWORD_WAIT_BUCKETS,
    registers,
  });
  const [name, help] = [
    'assent_password_refused_total',
    'Passwords that were not checked: no place, or not in time.',
  ];
  const refused = new Counter({ name, help, labelNames, registers });
  for (const lane of LANES) {
    wait.zero({ lane });
    refused.inc({ lane }, 0);
  }
  return [
    passwordTurn.listen(({ lane, waitSeconds }) => wait.observe({ lane }, waitSeconds)),
    passwordRefused.listen(({ lane }) => refused.inc({ lane })),
  ];
}
