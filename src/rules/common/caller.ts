/** A request, for the audit trail. */
export interface RequestMeta {
  /** Of the browser, or of the application's server. */
  readonly address: string;
  /** The reference of the request's log line. */
  readonly reference: string;
  readonly userAgent: string | null;
}

/** A waiting request that decides something. */
export interface Caller extends RequestMeta {
  /** Of `performance.now()`: a later statement does nothing. */
  readonly decideBy: number;
}
