/**
 * What an operator's action does to data, from the harmless on. A role is one of them, and includes those before it. One that
 * `supports` takes access away from a user's applications, browsers or account, or gives it back; it gives no new access.
 */
export const ACCESS_LEVELS = ['reads', 'supports', 'changes', 'destroys'] as const;

export type AccessLevel = (typeof ACCESS_LEVELS)[number];

export function permits(role: AccessLevel, effect: AccessLevel): boolean {
  return ACCESS_LEVELS.indexOf(role) >= ACCESS_LEVELS.indexOf(effect);
}
