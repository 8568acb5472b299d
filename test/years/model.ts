import type { TestClient, TestUser } from '../support/server.ts';
import { DAY, yearsAfter } from './clock.ts';

// What each person, application and wallet must see, from what was done, without a look into the database.

export interface Application extends TestClient {
  /** Of its webhooks at the receiver. */
  readonly path: string;
  isBlocked: boolean;
}

export interface Token {
  readonly value: string;
  readonly grantId: string;
  readonly person: Person;
  readonly application: Application;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** RUB in any 7 days; 0 for a token that may not pay. */
  limit: number;
  /** The last day of its right to pay, as in a scope; undefined for the token's. */
  readonly until: string | undefined;
  readonly payments: { readonly at: number; readonly amount: number }[];
  hasEnded: boolean;
  rightHasEnded: boolean;
}

export interface Person {
  user: TestUser;
  isBlocked: boolean;
  isDeleted: boolean;
  /** The last time. Messages are compared for who was never blocked or deleted: what others are told depends on when it is read. */
  blockedAt: number | undefined;
  readonly tokens: Token[];
}

export const DAYS_OF_LIMIT = 7;

export class Model {
  readonly people: Person[] = [];
  readonly tokens: Token[] = [];
  /** How often each application, and each wallet user, must have been told what. */
  readonly told = { application: new Map<string, number>(), wallet: new Map<string, number>() };
  /** What an application may be told once more: a deletion blocks the user first. */
  readonly mayBeTold = new Set<string>();
  readonly transitions = new Map<string, number>();

  count(transition: string): void {
    this.transitions.set(transition, (this.transitions.get(transition) ?? 0) + 1);
  }

  isActive({ hasEnded, expiresAt, person, application }: Token, now: number): boolean {
    return !hasEnded && now < expiresAt && !person.isBlocked && !person.isDeleted && !application.isBlocked;
  }

  canSignIn = ({ isBlocked, isDeleted }: Person): boolean => !isBlocked && !isDeleted;

  /** A live authorization counts also while its user or application is blocked. */
  isLive = ({ hasEnded, expiresAt }: Token, now: number): boolean => !hasEnded && now < expiresAt;

  spentIn({ payments }: Token, now: number): number {
    const recent = payments.filter(({ at }) => at > now - DAYS_OF_LIMIT * DAY);
    return recent.reduce((sum, { amount }) => sum + amount, 0);
  }

  issue(
    given: Pick<Token, 'value' | 'grantId' | 'person' | 'application' | 'issuedAt' | 'limit' | 'until'>,
  ): Token {
    const { person, application, issuedAt } = given;
    const before = person.tokens.find((one) => one.application === application && !one.hasEnded);
    const earlier = before && this.isLive(before, issuedAt) ? before : undefined;
    // Of one that is over, and that `maintain` hasn't seen, no end is told (docs/integrate/events.md).
    if (before) before.hasEnded = true;
    if (earlier) this.tellApplication(earlier, 'ended', 'replaced');
    this.tellWallet(person, earlier ? 'replaced' : 'allowed');
    this.count(earlier ? 'replaced' : 'allowed');
    const rest = { payments: [], hasEnded: false, rightHasEnded: false };
    const token = { ...given, expiresAt: yearsAfter(issuedAt, 3), ...rest };
    person.tokens.push(token);
    this.tokens.push(token);
    return token;
  }

  end(token: Token, reason: string): void {
    token.hasEnded = true;
    this.count(reason);
    this.tellApplication(token, 'ended', reason);
    if (reason !== 'deleted') this.tellWallet(token.person, 'ended');
  }

  block(person: Person, now: number): void {
    Object.assign(person, { isBlocked: true, blockedAt: now });
    this.count('user blocked');
    for (const token of person.tokens.filter((one) => this.isLive(one, now)))
      this.tellApplication(token, 'ended', 'user_blocked');
  }

  delete(person: Person, now: number): void {
    for (const token of person.tokens.filter((one) => this.isLive(one, now))) {
      this.end(token, 'deleted');
      this.mayBeTold.add(`authorization.ended ${token.grantId} user_blocked`);
    }
    for (const token of person.tokens) token.hasEnded = true; // also those that `maintain` hasn't seen to be over
    person.isDeleted = true;
    this.count('user deleted');
  }

  /** What `assent maintain` finds on a day. */
  maintain(now: number): void {
    for (const token of this.tokens) {
      if (token.hasEnded) continue;
      const { expiresAt, until, person } = token;
      const rightEnd = until === undefined ? undefined : Date.parse(until) + DAY;
      if (rightEnd !== undefined && !token.rightHasEnded && now >= rightEnd) {
        token.rightHasEnded = true;
        this.count('right ended');
        this.tellApplication(token, 'lowered', 'expired');
        this.tellWallet(person, 'right_ended');
      }
      if (now < expiresAt) continue;
      token.hasEnded = true;
      this.count('expired');
      this.tellApplication(token, 'ended', 'expired');
      this.tellWallet(person, 'ended');
    }
  }

  /** The database is as it was at a time; what the trail shows to have ended since, and to have been lowered, is revoked. */
  restore(backup: {
    readonly at: number;
    readonly live: ReadonlySet<Token>;
    readonly limits: ReadonlyMap<Token, number>;
  }): Token[] {
    const revoked = [];
    for (const token of this.tokens) {
      const { payments } = token;
      payments.splice(0, payments.length, ...payments.filter(({ at }) => at < backup.at));
      if (backup.live.has(token) && (token.hasEnded || token.limit !== backup.limits.get(token)))
        revoked.push(token);
      if (token.issuedAt >= backup.at) token.hasEnded = true;
    }
    for (const token of revoked) token.hasEnded = true;
    this.count('restored');
    return revoked;
  }

  tellApplication(
    { grantId, application }: Pick<Token, 'application'> & { grantId: string | null },
    type: string,
    reason: string,
  ): void {
    const about = grantId ?? application.clientId;
    add(this.told.application, `authorization.${type} ${about} ${reason}`);
  }

  tellWallet(person: Person, kind: string): void {
    add(this.told.wallet, `${person.user.userId} ${kind}`);
  }
}

export function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
