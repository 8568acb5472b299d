/** The conditions of a statement that were asked for, and their values. */
export interface Where {
  /** `true` when nothing was asked for. */
  readonly condition: string;
  /** Numbered from 1. */
  readonly values: unknown[];
}

/**
 * Only what is asked for stands in the statement, so that its plan is made for that.
 *
 * @param conditions each up to its value, such as `a.at <`; what is null or undefined is not asked for
 */
export function whereOf(conditions: readonly (readonly [condition: string, value: unknown])[]): Where {
  const asked = conditions.filter(([, value]) => value !== null && value !== undefined);
  const condition = asked.map(([start], index) => `${start} $${index + 1}`).join(' and ');
  return { condition: condition || 'true', values: asked.map(([, value]) => value) };
}
