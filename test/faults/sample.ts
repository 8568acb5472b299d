import type { EventRow, Evidence } from './evidence.ts';
import type { Act, Entry } from './journal.ts';

// Evidence in which all is well: two authorizations, an annulment, a revocation and a block. Tests spoil copies of it.

const [USER, SHOP, BANK] = ['user', 'shop', 'bank'];

function entry(at: number, act: Act, ref: string, more: Partial<Entry> = {}): Entry {
  const times = { askedAt: at, toldAt: at + 50 };
  const asked = { act, actor: 'browser', during: 'fault', userId: USER, ...more };
  return { told: 'done', status: 200, ref, ...times, ...asked };
}

const ofShop = { key: 'shop-grant', clientId: SHOP };
const ofBank = { key: 'bank-grant', clientId: BANK };
const ask = (at: number, ref: string, token: string, active: boolean, of = ofShop) =>
  entry(at, 'introspect', ref, { ...of, token, active });

const ENTRIES: readonly Entry[] = [
  entry(1_000, 'signIn', 'r0'),
  entry(1_100, 'approve', 'r1', { ...ofShop, form: 'f1', code: 'c1' }),
  entry(1_200, 'exchange', 'r2', { ...ofShop, code: 'c1', token: 't1' }),
  ask(1_300, 'q1', 't1', true),
  entry(1_400, 'approve', 'r3', { ...ofShop, form: 'f2', code: 'c2' }),
  ask(1_500, 'q2', 't1', false),
  entry(1_600, 'exchange', 'r4', { ...ofShop, code: 'c2', token: 't2' }),
  { ...entry(1_700, 'block', 'o1', { clientId: SHOP }), userId: undefined } as unknown as Entry,
  ask(1_760, 'q3', 't2', false),
  { ...entry(1_900, 'unblock', 'o2', { clientId: SHOP }), userId: undefined } as unknown as Entry,
  entry(2_000, 'approve', 'r5', { ...ofBank, form: 'f3', code: 'c3' }),
  entry(2_100, 'exchange', 'r6', { ...ofBank, code: 'c3', token: 't3' }),
  entry(2_200, 'revoke', 'r7', { ...ofBank, token: 't3' }),
  entry(2_300, 'exchange', 'r8', {
    ...ofBank,
    code: 'c3',
    told: 'refused',
    status: 400,
    why: 'invalid_grant',
  }),
  ask(3_000, 'q4', 't1', false),
  ask(3_000, 'q5', 't2', true),
  ask(3_000, 'q6', 't3', false, ofBank),
];

function event(at: number, kind: string, reference: string, more: Partial<EventRow> = {}): EventRow {
  return { at, kind, reference, grantId: null, userId: USER, clientId: null, operator: null, ...more };
}

const EVENTS: readonly EventRow[] = [
  event(1_020, 'signed_in', 'r0'),
  event(1_120, 'approved', 'r1', { grantId: 'shop-grant' }),
  event(1_220, 'exchanged', 'r2', { grantId: 'shop-grant' }),
  event(1_420, 'approved_again', 'r3', { grantId: 'shop-grant' }),
  event(1_620, 'exchanged', 'r4', { grantId: 'shop-grant' }),
  { ...event(1_720, 'client_blocked', ''), reference: null, operator: 'o1', clientId: SHOP },
  { ...event(1_920, 'client_unblocked', ''), reference: null, operator: 'o2', clientId: SHOP },
  event(2_020, 'approved', 'r5', { grantId: 'bank-grant' }),
  event(2_120, 'exchanged', 'r6', { grantId: 'bank-grant' }),
  event(2_220, 'revoked_by_application', 'r7', { grantId: 'bank-grant' }),
];

const grant = { userId: USER, instanceName: null, revision: 2 };

export const SOUND: Evidence = {
  entries: ENTRIES,
  events: EVENTS,
  grants: [
    { ...grant, grantId: 'shop-grant', clientId: SHOP, codeHash: 'c2', tokenHash: 't2', revokedAt: null },
    { ...grant, grantId: 'bank-grant', clientId: BANK, codeHash: 'c3', tokenHash: 't3', revokedAt: 2_220 },
  ],
  lives: [
    { name: 'replica 0', output: '{"level":"info"}', runs: true, killed: false },
    { name: 'replica 1', output: '', runs: false, killed: true },
  ],
  codeLifetimeMs: 10_000,
  quietSince: 3_000,
  leaks: [],
  losing: new Set(['killPostgres']),
  frozenAt: [],
};

/** Changes the entry, or the row, with this reference. */
export function changed<T extends { ref?: string | null; reference?: string | null }>(
  all: readonly T[],
  ref: string,
  change: Partial<T>,
): T[] {
  return all.map((each) => ((each.ref ?? each.reference) === ref ? { ...each, ...change } : each));
}

export { entry, event, ofShop };
