/** A request, for the audit trail. */
export interface RequestMeta {
  /** The address of the browser or the application's server, as text. */
  readonly address: string;
  /** The reference of the request's log line. */
  readonly reference: string;
  readonly userAgent: string | null;
}

/** A request in whose name something is decided, while it waits. */
export interface Caller extends RequestMeta {
  /** Of `performance.now()`: a statement that decides later does nothing. */
  readonly decideBy: number;
}
