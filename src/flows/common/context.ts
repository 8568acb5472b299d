import type pg from 'pg';
import type { Catalogue } from '../../languages/catalogue.ts';
import type { Languages } from '../../languages/languages.ts';
import type { Brand } from '../../rules/face/brand.ts';
import type { TargetNames } from '../../rules/face/directory.ts';
import type { Offer } from '../../rules/request/scopeRules.ts';
import type { KeyRing } from '../../secrets/keyRing.ts';
import type { Provider } from './provider.ts';

/** The argument of every flow and page: the database, the keys, and the operator's settings. */
export interface Context extends Offer {
  readonly db: pg.Pool;
  readonly keyRing: KeyRing;
  /** The public address, an origin without a final slash: the contract's {base_url}. */
  readonly baseUrl: string;
  readonly catalogue: Catalogue;
  readonly directory: TargetNames;
  readonly brand: Brand;
  readonly languages: Languages;
  /** IANA name of the zone for days and times on pages. */
  readonly timeZone: string;
  /** Less than a minute (contract section 8). */
  readonly codeLifetimeSeconds: number;
  /** Maximum of a user's live authorizations for one application, by `instance_name`. */
  readonly maxInstances: number;
  /** Where users sign in; null for our own pages. */
  readonly provider: Provider | null;
  /** True if spending always needs a confirmation, not only of users with a payment password. */
  readonly confirmsPayments: boolean;
  /** True if resource servers reserve payments here (`SPENDING`). */
  readonly countsPayments: boolean;
  /** True in trial mode: error pages name the exact rule, for developers. */
  readonly showsRules: boolean;
}
