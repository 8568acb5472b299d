import { randomBytes } from 'node:crypto';
import type { Attempt } from '../../../examples/oauthClient.mjs';
import type { Message } from './message.ts';
import { FIRST_WISH, type Wish } from './wish.ts';

/** What the application knows of one browser. In a real one this is the user's session, and tokens are stored encrypted. */
export interface Session {
  wish: Wish;
  /** Null until something was asked. */
  story: Story | null;
  /** The token of the story before, and the instance it is for. */
  earlier: Token | null;
}

export interface Token {
  readonly value: string;
  readonly expiresAt: Date;
  readonly instance: string;
}

/** One request and what came of it. */
export interface Story {
  readonly attempt: Attempt;
  readonly instance: string;
  /** The form that the browser posts to the server. */
  request: Readonly<Record<string, string>>;
  /** The field of it that was changed on purpose. */
  tampered: Tampering | null;
  /** Whether the answer came: it counts once. */
  answered: boolean;
  code: { readonly value: string; readonly cameAt: Date } | null;
  /** Set before the exchange begins, so that a double click doesn't send the code twice. */
  exchanged: boolean;
  token: Token | null;
  /** Whether the token is known to work no longer. */
  ended: boolean;
  readonly messages: Message[];
  /** Where in `messages` those of the last step begin; the page folds the others. */
  newest: number;
}

export const TAMPERINGS = ['state', 'redirect_uri'] as const;
export type Tampering = (typeof TAMPERINGS)[number];

const MAX_SESSIONS = 50;
const MAX_MESSAGES = 30;

/** The sessions of all browsers, in memory. Of too many the one that was used longest ago goes. */
export class Sessions {
  readonly #byId = new Map<string, Session>();

  find(id: string | undefined): Session | null {
    const session = this.#byId.get(id ?? '');
    if (id === undefined || session === undefined) return null;
    this.#byId.delete(id);
    this.#byId.set(id, session);
    return session;
  }

  /** @returns a new session, and its id for the cookie */
  open(): [id: string, session: Session] {
    const [oldest] = this.#byId.keys();
    if (this.#byId.size >= MAX_SESSIONS && oldest !== undefined) this.#byId.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    const session: Session = { wish: FIRST_WISH, story: null, earlier: null };
    this.#byId.set(id, session);
    return [id, session];
  }
}

/** Adds messages; of too many the first go. */
export function tell({ messages }: Story, ...added: readonly Message[]): void {
  messages.push(...added);
  if (messages.length > MAX_MESSAGES) messages.splice(0, messages.length - MAX_MESSAGES);
}
