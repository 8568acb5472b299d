/** What `assent doctor` says of one thing. */
export interface Verdict {
  /** `advice`: it works and could be better; `error`: Assent can't serve like this, or not safely. */
  readonly level: 'ok' | 'advice' | 'error';
  readonly text: string;
  /** What to do; null when all is well. */
  readonly remedy: string | null;
}

/** A verdict under the name of its check: one word, for programs. */
export type Finding = { readonly check: string } & Verdict;

export function ok(text: string): Verdict {
  return { level: 'ok', text, remedy: null };
}

export function advice(text: string, remedy: string): Verdict {
  return { level: 'advice', text, remedy };
}

export function wrong(text: string, remedy: string): Verdict {
  return { level: 'error', text, remedy };
}
