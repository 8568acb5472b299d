import { randomUUID } from 'node:crypto';
import type { Sentences as Texts } from '../texts/en.d.ts';

// A payment API, OAuth's resource server. It sends each payment to Assent, which counts it, before money would move:
// docs/integrate/resources.md.

export type Resource = Readonly<Record<'server' | 'resourceId' | 'resourceSecret', string>>;

export const PAYEES = ['shop', 'account', 'phone', 'email'] as const;
export const SOURCES = ['wallet', 'card'] as const;

export interface Payment {
  readonly to: (typeof PAYEES)[number];
  readonly payee: string;
  /** A decimal as text. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
  readonly source: (typeof SOURCES)[number];
}

/** The fields of an answer about a token that are used here. */
export interface Told {
  readonly active: boolean;
}

/** The answer about a payment. */
export interface Judged extends Told {
  readonly verdict?: string;
  readonly reason?: Verdict;
  readonly right?: { readonly period_days?: number; readonly amount?: string };
  readonly left?: string;
  /** Seconds since 1970. */
  readonly free_again?: number;
}

/** `paid` and `paid_once` allow the payment; the texts explain each. */
export type Verdict = Exclude<keyof Texts['reasons'], 'invalid_grant'>;

/** The spent part of a limit over days. */
export interface Budget {
  readonly used: number;
  readonly limit: number;
  /** When the oldest part of it is free again. */
  readonly freeAt: Date;
}

const TIMEOUT_MS = 8_000;

type Fetch = typeof globalThis.fetch;

export class PaymentApi {
  readonly #resource: Resource;

  constructor(resource: Resource) {
    this.#resource = resource;
  }

  /** Introspects a token. @throws if the server gives no answer */
  introspect(token: string, fetch: Fetch): Promise<Told> {
    return this.#ask('/oauth/introspect', { token }, fetch);
  }

  /** Has a payment judged and reserved. @throws if the server gives no answer: then nothing is paid */
  spend(token: string, { to, payee, ...payment }: Payment, fetch: Fetch): Promise<Judged> {
    const receiver = to === 'shop' ? { shop: payee } : { to: payee, type: to };
    return this.#ask('/oauth/spend', { token, key: randomUUID(), ...receiver, ...payment }, fetch);
  }

  async #ask(path: string, form: Record<string, string>, fetch: Fetch): Promise<Judged> {
    const { server, resourceId, resourceSecret } = this.#resource;
    const response = await fetch(server + path, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${resourceId}:${resourceSecret}`)}` },
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 400) return { active: true, verdict: 'refused', reason: 'invalid_amount' };
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.json()) as Judged;
  }
}

/** Why a payment is made or not. */
export function verdictOf({ active, verdict, reason, right }: Judged): Verdict {
  if (!active) return 'invalid_token';
  if (verdict === 'reserved') return right?.period_days === undefined ? 'paid_once' : 'paid';
  return reason ?? 'no_right';
}

/** Null for a one-time payment, or none at all. */
export function budgetOf({ right, left, free_again }: Judged): Budget | null {
  if (right?.amount === undefined || left === undefined || free_again === undefined) return null;
  const limit = Number(right.amount);
  return { used: limit - Number(left), limit, freeAt: new Date(free_again * 1000) };
}

export function isPaid(verdict: Verdict): boolean {
  return verdict === 'paid' || verdict === 'paid_once';
}
