/** What `assent doctor` found about one thing. */
export interface Finding {
  /** One word or two, for programs. */
  readonly check: string;
  /** `advice`: it works and could be better; `error`: Assent can't serve like this, or not safely. */
  readonly level: 'ok' | 'advice' | 'error';
  readonly text: string;
  /** What to do; null when all is well. */
  readonly remedy: string | null;
}

export function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text, remedy: null };
}

export function advice(check: string, text: string, remedy: string): Finding {
  return { check, level: 'advice', text, remedy };
}

export function wrong(check: string, text: string, remedy: string): Finding {
  return { check, level: 'error', text, remedy };
}
