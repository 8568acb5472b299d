import { type Ceiling, hundredths } from './ceiling.ts';

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

/** What of a change to an application says something new: another order of rights and zeros behind a sum don't. */
export function whatIsNew(before: Client, change: Partial<Client>): Partial<Client> {
  const [old, wanted] = [inOneSpelling(before), inOneSpelling(change)];
  return Object.fromEntries(Object.entries(change).filter(([name]) => wanted.get(name) !== old.get(name)));
}

function inOneSpelling({ allowedRights, most, ...others }: Partial<Client>): Map<string, string> {
  const rights = allowedRights && [...new Set(allowedRights)].sort();
  const ceiling = most && [most.days, hundredths(most.sum).toString()];
  const spelled = { ...others, allowedRights: rights, most: ceiling };
  return new Map(Object.entries(spelled).map(([name, value]) => [name, JSON.stringify(value)]));
}
