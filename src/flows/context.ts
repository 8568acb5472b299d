import type pg from 'pg';
import type { Catalogue } from '../oauth/catalogue.ts';
import type { Client } from '../oauth/client.ts';
import type { Digest } from '../secrets/digest.ts';
import type { KeyRing } from '../secrets/keyRing.ts';
import { BusyError } from '../secrets/password.ts';
import type { Caller } from '../store/auditEvents.ts';
import { findClients } from '../store/clients.ts';
import { type ASK_AGAIN, coalesce, OverloadedError } from '../store/coalesce.ts';
import { TooLateError } from '../store/database.ts';
import { type ExchangeAnswer, type ExchangeQuestion, exchangeCodes } from '../store/exchanges.ts';
import { askTwice, isDatabaseAway, isOneCallersFault } from '../store/failures.ts';
import { findInstances, type Grant, type Instance, type InstanceState } from '../store/grants.ts';
import { revokeTokens, type TokenRevocation, type TokenRevocationAnswer } from '../store/revocations.ts';
import { findSessions, type Session } from '../store/sessions.ts';
import { findTokens, type TokenAnswer, type TokenQuestion } from '../store/tokens.ts';
import { UnansweredError } from './deadline.ts';
import { type Counters, countTries, type Settlement, settleTries, type Verdict } from './throttle.ts';

// The words of the store that HTTP uses too; it never asks the store itself.
export type { Caller, Grant, Session };

/** What the operator decides. */
export interface Settings {
  readonly db: pg.Pool;
  readonly keyRing: KeyRing;
  readonly catalogue: Catalogue;
  /** ISO 4217 code of the service's one currency. */
  readonly currency: string;
  /** Less than a minute (contract section 8). */
  readonly codeLifetimeSeconds: number;
  /** How many live authorizations of one application a user may have, by `instance_name`. */
  readonly maxInstances: number;
}

/** What the verbs need to work: rows, keys and settings. What many ask at once is asked in batches. */
export interface Context extends Settings {
  /** By `client_id`; null when there is none. */
  findClient(clientId: string): Promise<Client | null>;
  /** By SHA-256 of the cookie; null when nobody is signed in with it. */
  findSession(sessionHash: Digest): Promise<Session | null>;
  findInstance(instance: Instance): Promise<InstanceState>;
  exchangeCode(question: ExchangeQuestion): Promise<ExchangeAnswer>;
  findToken(question: TokenQuestion): Promise<TokenAnswer>;
  revokeToken(given: TokenRevocation): Promise<TokenRevocationAnswer>;
  takeTry(counters: Counters): Promise<Verdict>;
  settleTry(settlement: Settlement): Promise<null>;
}

/** Ties the settings to the store. One for each server: what its callers ask at the same time goes together. */
export function createContext(settings: Settings): Context {
  const { db, maxInstances } = settings;
  // After a lost connection all are asked once more. A try at a password may be counted twice by that: a wait too early.
  const together = <Question, Answer>(
    ask: (db: pg.Pool, questions: readonly Question[]) => Promise<readonly (Answer | typeof ASK_AGAIN)[]>,
  ) => coalesce((questions: readonly Question[]) => askTwice(() => ask(db, questions)), isOneCallersFault);
  return {
    ...settings,
    findClient: together(findClients),
    findSession: together(findSessions),
    findInstance: together((db, instances: readonly Instance[]) =>
      findInstances(db, instances, maxInstances),
    ),
    exchangeCode: together(exchangeCodes),
    findToken: together(findTokens),
    revokeToken: together(revokeTokens),
    takeTry: together(countTries),
    settleTry: together(settleTries),
  };
}

const OVERLOADS = [OverloadedError, BusyError, TooLateError, UnansweredError];

/** Whether more came than can be answered in time, or something got through too late. */
export function isOverload(error: unknown): boolean {
  return OVERLOADS.some((overload) => error instanceof overload);
}

/** Whether trying again in a moment may help: too much at once, or the database is away. */
export function isPassing(error: unknown): boolean {
  return isOverload(error) || isDatabaseAway(error);
}
