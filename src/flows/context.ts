import type pg from 'pg';
import type { Catalogue } from '../oauth/catalogue.ts';
import type { KeyRing } from '../secrets/keyRing.ts';

// The words of the store that HTTP uses too; it never asks the store itself.
export { isDatabaseAway } from '../store/database.ts';
export type { Grant } from '../store/grants.ts';
export type { Session } from '../store/sessions.ts';

/** What the verbs need to work: rows, keys and the operator's settings. */
export interface Context {
  readonly db: pg.Pool;
  readonly keyRing: KeyRing;
  readonly catalogue: Catalogue;
  /** ISO 4217 code of the service's one currency. */
  readonly currency: string;
  /** Less than a minute (contract section 8). */
  readonly codeLifetimeSeconds: number;
}
