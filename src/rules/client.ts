import { type Ceiling, hundredths } from './ceiling.ts';

/** A registered application (contract 2.1). */
export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUri: string;
  /** Registered with authenticity verification: every token request must carry the client secret. */
  readonly verified: boolean;
  readonly status: 'active' | 'blocked';
  /** Names of the rights that it may ask; null for all. */
  readonly allowedRights: readonly string[] | null;
  /** Null for no ceiling. */
  readonly most: Ceiling | null;
  /** Raised by each change of name, redirect URI, rights or ceiling: consent pages and codes from before are refused. */
  readonly revision: number;
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
