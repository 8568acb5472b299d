/** What may be asked of the front door, or by an operator's command. */
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

/** What the caller was told. `nothing`: the connection broke, or no answer came. `unreached`: it can’t have been asked. */
export type Told = 'done' | 'refused' | 'unavailable' | 'nothing' | 'unreached';

/** What was asked, and of what. Codes and tokens are the hex of their SHA-256, as the database has them. */
export interface Asked {
  readonly act: Act;
  readonly actor: string;
  readonly during: string;
  /** The grant, where the act is about one: its id. */
  readonly key?: string | undefined;
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  /** The consent page whose form was sent: several posts of one are one decision. */
  readonly form?: string | undefined;
  readonly code?: string | undefined;
  readonly token?: string | undefined;
  /** Of an exchange: the hash of all that was sent, so that the same once more is known. */
  readonly body?: string | undefined;
  /** It may find nothing to do, as what it takes back was perhaps not done: then it leaves no row in the trail. */
  readonly mayBeIdle?: boolean | undefined;
}

/** One line of the journal. Times are milliseconds since 1970, of this machine's clock. */
export interface Entry extends Asked {
  readonly askedAt: number;
  readonly toldAt: number;
  readonly told: Told;
  /** Of HTTP; null where there was no answer, or for a command. */
  readonly status: number | null;
  /** `X-Request-Id`, or the operator of a command: the trail has it as `reference` or `operator`. Null where unknown. */
  readonly ref: string | null;
  readonly retryAfter?: string | null;
  /** Of an introspection: what was told of the token. */
  readonly active?: boolean | undefined;
  /** Why, in the words of the answer: an error code, a page, an error of the connection. */
  readonly why?: string | undefined;
}
