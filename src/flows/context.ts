import type pg from 'pg';
import type { Catalogue } from '../languages/catalogue.ts';
import type { Brand } from '../rules/brand.ts';
import type { Directory } from '../rules/directory.ts';
import type { KeyRing } from '../secrets/keyRing.ts';
import type { Standbys } from './standbys.ts';

/** What every verb and every page works with: the database, the keys, and what the operator decides. */
export interface Context {
  readonly db: pg.Pool;
  /** The standbys that introspection may ask; null for none. */
  readonly standbys: Standbys | null;
  readonly keyRing: KeyRing;
  /** The public address, an origin without a slash at the end: the contract's {base_url}. */
  readonly baseUrl: string;
  readonly catalogue: Catalogue;
  /** The names of shops and accounts. */
  readonly directory: Directory;
  /** Whose pages these are. */
  readonly brand: Brand;
  /** ISO 4217 code of the service's one currency. */
  readonly currency: string;
  /** IANA name of the time zone in which pages tell days and times. */
  readonly timeZone: string;
  /** Less than a minute (contract section 8). */
  readonly codeLifetimeSeconds: number;
  /** How many live authorizations of one application a user may have, by `instance_name`. */
  readonly maxInstances: number;
  /** Whether error pages name the exact rule, for developers: in trial mode only. */
  readonly showsRules: boolean;
}
