import { type Ceiling, hundredths } from './ceiling.ts';

/** Of an application, a resource server or a user. */
export type Status = 'active' | 'blocked';

/** A registered application (contract 2.1). */
export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUri: string;
  /** Registered with authenticity verification: every token request must carry the client secret. */
  readonly verified: boolean;
  readonly status: Status;
  /** Names of the rights that it may ask; null for all. */
  readonly allowedRights: readonly string[] | null;
  /** Null for no ceiling. */
  readonly most: Ceiling | null;
  /** Its own address in the web, `https://…`, as the operator gave it; null for none. */
  readonly site: string | null;
  /** The file of its logo, such as `0f…3a.svg`, the digits a hash of its bytes; null for none. */
  readonly logo: string | null;
  /** Whether an operator has looked at the application. `verified` says nothing of that kind, and is never shown. */
  readonly reviewed: boolean;
  /** Whether users may grant it smaller sums than it asks, where a limit is for a period. */
  readonly userLimits: boolean;
  readonly createdAt: Date;
  /** Raised by each change of {@link ClientSettings}: consent pages and codes from before are refused. */
  readonly revision: number;
}

/** What of an application may be changed. */
export type ClientSettings = Pick<
  Client,
  'name' | 'redirectUri' | 'allowedRights' | 'most' | 'site' | 'logo' | 'reviewed' | 'userLimits'
>;

/** The settings of an application, by their names in the audit trail. */
export function settingsOf(settings: ClientSettings) {
  const { name, redirectUri, allowedRights, most, site, logo, reviewed, userLimits } = settings;
  return {
    name,
    redirect_uri: redirectUri,
    allowed_rights: allowedRights,
    most,
    site,
    logo,
    reviewed,
    user_limits: userLimits,
  };
}

/** Where the logo of an application is served; null without one. */
export function logoPath({ clientId, logo }: Pick<Client, 'clientId' | 'logo'>): string | null {
  return logo === null ? null : `/logo/${clientId}-${logo}`;
}

/** The application and the file that {@link logoPath} wrote behind `/logo/`; null for any other text. */
export function parseLogoPath(name: string): { readonly clientId: string; readonly file: string } | null {
  const [, clientId, file] = /^([0-9a-f]{32})-([0-9a-f]{32}\.(?:svg|png))$/.exec(name) ?? [];
  return clientId === undefined || file === undefined ? null : { clientId, file };
}

/** The old and the new value of each setting that differs. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

export function changesBetween(before: ClientSettings, after: ClientSettings): Changes {
  const old = new Map<string, unknown>(Object.entries(settingsOf(before)));
  return Object.fromEntries(
    Object.entries(settingsOf(after))
      .map(([name, to]) => [name, { from: old.get(name), to }] as const)
      .filter(([, { from, to }]) => JSON.stringify(from) !== JSON.stringify(to)),
  );
}

/** The part of a change that has an effect: another order of rights, or zeros behind a sum, has none. */
export function effectiveChange(before: Client, change: Partial<Client>): Partial<Client> {
  const [old, wanted] = [inOneSpelling(before), inOneSpelling(change)];
  return Object.fromEntries(Object.entries(change).filter(([name]) => wanted.get(name) !== old.get(name)));
}

function inOneSpelling({ allowedRights, most, ...others }: Partial<Client>): Map<string, string> {
  const rights = allowedRights && [...new Set(allowedRights)].sort();
  const ceiling = most && [most.days, hundredths(most.sum).toString()];
  const spelled = { ...others, allowedRights: rights, most: ceiling };
  return new Map(Object.entries(spelled).map(([name, value]) => [name, JSON.stringify(value)]));
}
