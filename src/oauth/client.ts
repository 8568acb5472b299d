import type { Ceiling } from './ceiling.ts';

/** A registered application (contract 2.1). */
export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUri: string;
  /** Registered with authenticity verification: every token request must carry the client secret. */
  readonly verified: boolean;
  readonly status: 'active' | 'blocked';
  /** The rights it may ask; null for all of them. */
  readonly allowedRights: readonly string[] | null;
  /** The most that it may ask of a right that spends; null for no ceiling. */
  readonly most: Ceiling | null;
  /** Another number after each change of name, redirect URI, rights or ceiling: what was shown before no longer fits. */
  readonly revision: number;
}
