import type { Lesson, Message, Session } from './sessions.ts';

/** The lesson of a message, by its kind or content. */
const LESSONS: Readonly<Record<string, Lesson>> = {
  token: 'connect',
  over_budget: 'spend',
  used_up: 'spend',
  annulled: 'again',
  replayed: 'steal',
  invalid_token: 'leave',
};
const STEPS = {
  connect: 'connect',
  spend: 'spend',
  again: 'again',
  steal: 'replay',
  leave: 'spend',
} as const;

/** Ticks the lessons of these messages. @param wasEnded true if the token was known to be ended: its refusal is no news */
export function tick({ lessons }: Session, messages: readonly Message[], wasEnded: boolean): void {
  for (const { kind, why = '' } of messages) {
    const lesson = LESSONS[kind] ?? LESSONS[why];
    if (lesson !== undefined && !(wasEnded && lesson === 'leave')) lessons.add(lesson);
  }
}

/** The completed lessons, the next one, and the step for it: the page's one filled button. */
export function progressOf(session: Session | null) {
  const done: ReadonlySet<string> = session?.lessons ?? new Set();
  const { token = null, ended = false } = session?.story ?? {};
  const [lesson, step] = Object.entries(STEPS).find(([name]) => !done.has(name)) ?? [null, null];
  const needsToken = lesson !== null && lesson !== 'connect' && (token === null || ended);
  return { done, lesson, step: needsToken ? 'again' : step };
}
