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
}
