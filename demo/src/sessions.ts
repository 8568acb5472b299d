import { randomBytes } from 'node:crypto';
import type { Attempt } from '../../examples/oauthClient.mjs';
import type { Sentences as Texts } from '../texts/en.d.ts';
import type { Budget } from './paymentApi.ts';
import type { Exchange } from './recorder.ts';
import { FIRST_WISH, type Wish } from './wish.ts';

/** The state of one browser. In a real application this is the user's session, and tokens are stored encrypted. */
export interface Session {
  wish: Wish;
  /** Null before the first request. */
  story: Story | null;
  earlier: Token | null;
  readonly lessons: Set<Lesson>;
  /** The application that this user registered last, or the reason for a refusal. */
  own: Readonly<Partial<Record<'name' | 'redirectUri' | 'clientId' | 'clientSecret' | 'problem', string>>>;
}

export type Lesson = keyof Texts['plan']['lessons'];

export interface Token {
  readonly value: string;
  readonly expiresAt: Date;
  readonly instance: string;
}

export interface Story {
  readonly attempt: Attempt;
  readonly instance: string;
  readonly request: Readonly<Record<string, string>>;
  /** Set by the answer, which is accepted once. */
  answered: boolean;
  code: string | null;
  token: Token | null;
  /** Set once the token is known to have ended. */
  ended: boolean;
  budget: Budget | null;
  /** The newest comes first. */
  readonly messages: Message[];
  /** How many of them the last step added; the page folds earlier ones. */
  added: number;
}

/** An exchange as the page shows it. The texts have a title and lesson for each kind and each way. */
export interface Message extends Exchange {
  readonly kind: MessageKind;
  readonly way: keyof Texts['ways'];
  /** A refusal's error or verdict. */
  readonly why?: string | undefined;
}

export type MessageKind = keyof Texts['messages'];

const MAX_SESSIONS = 50;
const MAX_MESSAGES = 30;

/** The most recently used sessions of all browsers, in memory. */
export class Sessions {
  readonly #byId = new Map<string, Session>();

  find(id = ''): Session | null {
    const session = this.#byId.get(id);
    if (session === undefined) return null;
    this.#byId.delete(id);
    this.#byId.set(id, session);
    return session;
  }

  open(): [id: string, session: Session] {
    const [oldest] = this.#byId.keys();
    if (this.#byId.size >= MAX_SESSIONS && oldest !== undefined) this.#byId.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    const session: Session = { wish: FIRST_WISH, story: null, earlier: null, lessons: new Set(), own: {} };
    this.#byId.set(id, session);
    return [id, session];
  }
}

/** Adds a message; beyond the limit drops the oldest. */
export function tell(story: Story, message: Message): void {
  story.messages.unshift(message);
  story.messages.splice(MAX_MESSAGES);
  story.added += 1;
}
