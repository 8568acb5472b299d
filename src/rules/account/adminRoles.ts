import { ACCESS_LEVELS, type AccessLevel } from './role.ts';

/** `ADMIN_ROLES`: the roles that a claim of the operators' OpenID provider gives, by its values. */
export interface AdminRoles {
  readonly claim: string;
  readonly byValue: ReadonlyMap<string, AccessLevel>;
}

const isRole = (word: string | undefined): word is AccessLevel => ACCESS_LEVELS.some((role) => role === word);

/** @param text such as `groups support=supports admins=destroys` @returns undefined if it can't be read */
export function parseAdminRoles(text: string): AdminRoles | undefined {
  const [claim = '', ...pairs] = text.trim().split(/\s+/);
  const byValue = new Map<string, AccessLevel>();
  for (const pair of pairs) {
    const [, value, role] = /^(.+)=(\w+)$/.exec(pair) ?? [];
    if (value === undefined || !isRole(role) || byValue.has(value)) return undefined;
    byValue.set(value, role);
  }
  return claim.includes('=') || byValue.size === 0 ? undefined : { claim, byValue };
}

/** The highest role of these values; null for none. */
export function highestRole({ byValue }: AdminRoles, values: readonly string[]): AccessLevel | null {
  return ACCESS_LEVELS.findLast((role) => values.some((value) => byValue.get(value) === role)) ?? null;
}
