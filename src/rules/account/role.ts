/** What an operator's action does to data, from the harmless on. A role is one of them, and includes those before it. */
export const EFFECTS = ['reads', 'changes', 'destroys'] as const;

export type Effect = (typeof EFFECTS)[number];

export function permits(role: Effect, effect: Effect): boolean {
  return EFFECTS.indexOf(role) >= EFFECTS.indexOf(effect);
}
