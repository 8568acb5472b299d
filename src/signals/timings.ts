import { Signal } from './signal.ts';

/** Why a statement failed: its time ran out, a lock was not free, the connection was lost, or anything else. */
export const STATEMENT_FAILURES = ['timeout', 'lock', 'connection', 'other'] as const;
export type StatementFailure = (typeof STATEMENT_FAILURES)[number];

/** A statement has its result or its error. An empty `name` stands for all that have none. */
export const statementEnded = new Signal<{
  readonly name: string;
  readonly seconds: number;
  readonly failure: StatementFailure | null;
}>('statement');

/** A batch is sent to the database; `waitSeconds` is how long the request waited that waited longest. */
export const batchSent = new Signal<{
  readonly name: string;
  readonly size: number;
  readonly waitSeconds: number;
}>('batch');

/** A request for a batch was turned away: too many wait, or it waited for too long. */
export const batchRefused = new Signal<{ readonly name: string }>('batch-refused');

/** Where passwords wait for their check: those of known devices and signed-in users, and those of strangers. */
export const PASSWORD_QUEUES = ['known', 'stranger'] as const;
export type PasswordQueue = (typeof PASSWORD_QUEUES)[number];

export const passwordStarted = new Signal<{ readonly queue: PasswordQueue; readonly waitSeconds: number }>(
  'password-started',
);

/** The check of a password was refused: its queue was full, or its turn did not come in time. */
export const passwordRefused = new Signal<{ readonly queue: PasswordQueue }>('password-refused');
