/** A request at the front door, or an operator's command. */
export type Act =
  /** A page, or a form that decides nothing about an authorization. */
  | 'look'
  | 'signIn'
  | 'approve'
  | 'reject'
  | 'exchange'
  | 'introspect'
  | 'revoke'
  | 'disconnect'
  | 'disconnectAll'
  | 'stop'
  | 'revokeByOperator'
  | 'block'
  | 'unblock';

/** The outcome for the caller. `nothing`: the connection broke, or no answer came. `unreached`: no connection. */
export type Told = 'done' | 'refused' | 'unavailable' | 'nothing' | 'unreached';

/** Codes and tokens are the hex of their SHA-256, as in the database. */
export interface Asked {
  readonly act: Act;
  readonly actor: string;
  readonly during: string;
  /** The grant's id, if the act is about one. */
  readonly key?: string | undefined;
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  /** The consent page whose form was sent: several posts of one are one decision. */
  readonly form?: string | undefined;
  readonly code?: string | undefined;
  readonly token?: string | undefined;
  /** Of an exchange: the hash of the whole body, by which a repetition is recognized. */
  readonly body?: string | undefined;
  /** It may leave no row in the trail, as there may be nothing to undo. */
  readonly mayBeIdle?: boolean | undefined;
}

/** One line of the journal. Times are milliseconds since 1970, of this machine's clock. */
export interface Entry extends Asked {
  readonly askedAt: number;
  readonly toldAt: number;
  readonly told: Told;
  /** Null without an answer, and for a command. */
  readonly status: number | null;
  /** `X-Request-Id`, or the operator of a command: the trail has it as `reference` or `operator`. Null where unknown. */
  readonly ref: string | null;
  readonly retryAfter?: string | null;
  readonly active?: boolean | undefined;
  /** Why, in the words of the answer: an error code, a page, an error of the connection. */
  readonly why?: string | undefined;
}
