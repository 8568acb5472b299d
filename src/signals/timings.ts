import { typedChannel } from './signal.ts';

/** Causes of a failed statement: timeout, lock not free, connection lost, or any other. */
export const STATEMENT_FAILURES = ['timeout', 'lock', 'connection', 'other'] as const;
export type StatementFailure = (typeof STATEMENT_FAILURES)[number];

/** Sent with each statement's result or error. An empty `name` stands for all unnamed ones. */
export const statementChannel = typedChannel<{
  readonly name: string;
  readonly seconds: number;
  readonly failure: StatementFailure | null;
}>('statement');

/** Sent with each batch to the database; `waitSeconds` is its longest wait of a request. */
export const batchSentChannel = typedChannel<{
  readonly name: string;
  readonly size: number;
  readonly waitSeconds: number;
}>('batch');

/** Sent when a batch refuses a request: the queue is full, or the wait too long. */
export const batchRefusalChannel = typedChannel<{ readonly name: string }>('batch-refused');

/** Queues of password checks: known devices and signed-in users, and all others. */
export const PASSWORD_QUEUES = ['known', 'stranger'] as const;
export type PasswordQueue = (typeof PASSWORD_QUEUES)[number];

export const passwordStartedChannel = typedChannel<{
  readonly queue: PasswordQueue;
  readonly waitSeconds: number;
}>('password-started');

/** Sent when a password check is refused: its queue is full, or its turn comes too late. */
export const passwordRefusedChannel = typedChannel<{ readonly queue: PasswordQueue }>('password-refused');
