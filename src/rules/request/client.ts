import { type Ceiling, hundredths } from '../common/money.ts';

/** Status of an application, a resource server or a user. */
export type Status = 'active' | 'blocked';

/** A registered application (contract 2.1). */
export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUri: string;
  /** A confidential client (RFC 6749 section 2.1): every token request needs its secret (contract 2.1). */
  readonly verified: boolean;
  readonly status: Status;
  /** Names of the rights that it may request; null for all. */
  readonly allowedRights: readonly string[] | null;
  /** The most that it may request for a right that spends; null for no ceiling. */
  readonly most: Ceiling | null;
  /** Its website, `https://…`, as registered; null for none. */
  readonly site: string | null;
  /** Its logo's file, such as `0f…3a.svg`, the digits a hash of its bytes; null for none. */
  readonly logo: string | null;
  /** An operator has checked the application. `verified` is something else, and is never shown. */
  readonly reviewed: boolean;
  /** Users may grant smaller sums than requested, if a limit has a period. */
  readonly userLimits: boolean;
  /** Held to OAuth 2.1: PKCE is required, a loopback redirect URI may have any port, and answers name the issuer. */
  readonly oauth21: boolean;
  /** `https://…`, where it is told that an authorization has ended; null for none. */
  readonly eventsUri: string | null;
  /** That address may be in the operator's own network. */
  readonly eventsInternal: boolean;
  readonly createdAt: Date;
  /** Raised by each change of {@link ClientSettings}: older consent pages and codes are refused. */
  readonly revision: number;
}

/** What an operator may change, except the status. */
export type ClientSettings = Omit<Client, 'clientId' | 'verified' | 'status' | 'createdAt' | 'revision'>;

export function logoPath({ clientId, logo }: Pick<Client, 'clientId' | 'logo'>): string | null {
  return logo === null ? null : `/oauth/logo/${clientId}-${logo}`;
}

/** The application and the file in a {@link logoPath} after `/oauth/logo/`; null for other text. */
export function parseLogoPath(name: string): { readonly clientId: string; readonly file: string } | null {
  const [, clientId, file] = /^([\w.~-]+)-([0-9a-f]{32}\.(?:svg|png))$/.exec(name) ?? [];
  return clientId === undefined || file === undefined ? null : { clientId, file };
}

/** The effective part of a change: another order of rights, or trailing zeros of a sum, have no effect. */
export function effectiveChange(before: Client, change: Partial<Client>): Partial<Client> {
  const [old, wanted] = [inOneSpelling(before), inOneSpelling(change)];
  return Object.fromEntries(Object.entries(change).filter(([name]) => wanted.get(name) !== old.get(name)));
}

function inOneSpelling({ allowedRights, most, ...others }: Partial<Client>): Map<string, string> {
  const rights = allowedRights && [...new Set(allowedRights)].sort();
  const ceiling = most && [most.days, hundredths(most).toString()];
  const spelled = { ...others, allowedRights: rights, most: ceiling };
  return new Map(Object.entries(spelled).map(([name, value]) => [name, JSON.stringify(value)]));
}
