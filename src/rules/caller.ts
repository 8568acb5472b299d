/** The HTTP request in whose name something is decided. */
export interface Caller {
  /** The address of the browser or the application's server, as text, for the audit trail. */
  readonly address: string;
  /** The reference of the request's log line, for the audit trail. */
  readonly reference: string;
  /** What the browser or program says that it is; null when it says nothing. */
  readonly userAgent: string | null;
  /** Of `performance.now()`: a statement that decides later does nothing. */
  readonly decideBy: number;
}
