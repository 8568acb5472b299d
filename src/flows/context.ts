import type pg from 'pg';
import type { Catalogue } from '../rules/catalogue.ts';
import type { KeyRing } from '../secrets/keyRing.ts';
import { BusyError } from '../secrets/password.ts';
import type { Caller } from '../store/auditEvents.ts';
import { isDatabaseAway, OverloadedError, TooLateError } from '../store/errors.ts';
import type { Grant } from '../store/grants.ts';
import type { Session } from '../store/sessions.ts';
import { UnansweredError } from './deadline.ts';

// The words of the store that HTTP uses too; it never asks the store itself.
export type { Caller, Grant, Session };

/** What the verbs need to work: rows, keys, and what the operator decides. */
export interface Context {
  readonly db: pg.Pool;
  readonly keyRing: KeyRing;
  readonly catalogue: Catalogue;
  /** ISO 4217 code of the service's one currency. */
  readonly currency: string;
  /** Less than a minute (contract section 8). */
  readonly codeLifetimeSeconds: number;
  /** How many live authorizations of one application a user may have, by `instance_name`. */
  readonly maxInstances: number;
}

const OVERLOADS = [OverloadedError, BusyError, TooLateError, UnansweredError];

/** Whether more came than can be answered in time, or something got through too late. */
export function isOverload(error: unknown): boolean {
  return OVERLOADS.some((overload) => error instanceof overload);
}

/** Whether trying again in a moment may help: too much at once, or the database is away. */
export function isPassing(error: unknown): boolean {
  return isOverload(error) || isDatabaseAway(error);
}
