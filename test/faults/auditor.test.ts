import { describe, expect, it } from 'vitest';
import { audit, RULES, withoutOvertaken } from './auditor.ts';
import type { Act, Entry, EventRow, Evidence, GrantRow } from './evidence.ts';

// Sound evidence: two authorizations, an annulment, a revocation and a block. Tests spoil copies of it.

const [USER, SHOP, BANK] = ['user', 'shop', 'bank'];
const REFUSED = { told: 'refused', status: 400, why: 'invalid_grant' } as const;

function entry(at: number, act: Act, ref: string, more: Partial<Entry> = {}): Entry {
  const asked = { act, actor: 'browser', during: 'fault', userId: USER, askedAt: at };
  return { ...asked, told: 'done', status: 200, ref, toldAt: at + 50, ...more };
}

const ofShop = { key: 'shop-grant', clientId: SHOP };
const ofBank = { key: 'bank-grant', clientId: BANK };
const ask = (at: number, ref: string, token: string, active: boolean, of = ofShop) =>
  entry(at, 'introspect', ref, { ...of, token, active });

const entries: readonly Entry[] = [
  entry(1_000, 'signIn', 'r0'),
  entry(1_100, 'approve', 'r1', { ...ofShop, form: 'f1', code: 'c1' }),
  entry(1_200, 'exchange', 'r2', { ...ofShop, code: 'c1', token: 't1' }),
  ask(1_300, 'q1', 't1', true),
  entry(1_400, 'approve', 'r3', { ...ofShop, form: 'f2', code: 'c2' }),
  ask(1_500, 'q2', 't1', false),
  entry(1_600, 'exchange', 'r4', { ...ofShop, code: 'c2', token: 't2' }),
  entry(1_700, 'block', 'o1', { clientId: SHOP, userId: undefined }),
  ask(1_760, 'q3', 't2', false),
  entry(1_900, 'unblock', 'o2', { clientId: SHOP, userId: undefined }),
  entry(2_000, 'approve', 'r5', { ...ofBank, form: 'f3', code: 'c3' }),
  entry(2_100, 'exchange', 'r6', { ...ofBank, code: 'c3', token: 't3' }),
  entry(2_200, 'revoke', 'r7', { ...ofBank, token: 't3' }),
  entry(2_300, 'exchange', 'r8', { ...ofBank, code: 'c3', ...REFUSED }),
  ask(3_000, 'q4', 't1', false),
  ask(3_000, 'q5', 't2', true),
  ask(3_000, 'q6', 't3', false, ofBank),
];

function event(at: number, kind: string, reference: string | null, more: Partial<EventRow> = {}): EventRow {
  return { at, kind, reference, grantId: null, userId: USER, clientId: null, operator: null, ...more };
}

const events: readonly EventRow[] = [
  event(1_020, 'signed_in', 'r0'),
  event(1_120, 'approved', 'r1', { grantId: 'shop-grant' }),
  event(1_220, 'exchanged', 'r2', { grantId: 'shop-grant' }),
  event(1_420, 'approved_again', 'r3', { grantId: 'shop-grant' }),
  event(1_620, 'exchanged', 'r4', { grantId: 'shop-grant' }),
  event(1_720, 'client_blocked', null, { operator: 'o1', clientId: SHOP }),
  event(1_920, 'client_unblocked', null, { operator: 'o2', clientId: SHOP }),
  event(2_020, 'approved', 'r5', { grantId: 'bank-grant' }),
  event(2_120, 'exchanged', 'r6', { grantId: 'bank-grant' }),
  event(2_220, 'revoked_by_application', 'r7', { grantId: 'bank-grant' }),
];

const grant = { userId: USER, instanceName: null, revision: 2 };

const SOUND: Evidence = {
  entries,
  events,
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
  overtakenAt: [],
};

const { grants, lives } = SOUND;
const [ofShopRow, ofBankRow] = grants as [GrantRow, GrantRow];
type Change = Partial<Evidence>;
/** The entries with another one of this reference. */
const changed = (ref: string, change: Partial<Entry>) =>
  entries.map((each) => (each.ref === ref ? { ...each, ...change } : each));
const told = (ref: string, change: Partial<Entry>): Change => ({ entries: changed(ref, change) });
const asked = (...more: Entry[]): Change => ({ entries: [...entries, ...more] });
const noted = (...more: EventRow[]): Change => ({ events: [...events, ...more] });
const unnoted = (ref: string): Change => ({ events: events.filter(({ reference }) => reference !== ref) });

const UNAVAILABLE = { told: 'unavailable', status: 503, retryAfter: '1' } as const;
const LOST = { ...UNAVAILABLE, during: 'killPostgres' };
const UNANSWERED = { told: 'nothing', status: null, ref: null } as const;
/** The exchange of `t2`, which is live, once more. */
const raced = (more: Partial<Entry>, at = 1_590): Entry =>
  entry(at, 'exchange', 'x', { ...ofShop, code: 'c2', ...REFUSED, ...more });
const revoked = (at: number, more: Partial<Entry>): Entry =>
  entry(at, 'revoke', 'x', { ...ofShop, token: 't2', ...more });
const exchangedAgain = event(1_630, 'exchanged', 'r4', { grantId: 'shop-grant' });
/** A revocation that is carried out when its time is over. */
const late = {
  ...told('r7', LOST),
  events: events.map((each) => (each.reference === 'r7' ? { ...each, at: 9_500 } : each)),
};

/** Violations of each rule; some violate others, too. */
const PLANTED: Readonly<Record<string, readonly Change[]>> = {
  'a code is exchanged at most once': [asked(raced({ told: 'done', status: 200, token: 'another' }, 1_700))],
  'a code is exchanged within its lifetime': [told('r4', { askedAt: 21_500, toldAt: 21_600 })],
  'an issued token is active until an action ends it': [
    told('q5', { active: false }),
    // A revocation that was not done, and one whose time was over before, though its answer was lost.
    { entries: [...changed('q5', { active: false }), revoked(1_650, UNAVAILABLE)] },
    { entries: [...changed('q5', { active: false }), revoked(-8_000, LOST)] },
  ],
  'a token that was annulled or revoked stays inactive': [
    told('q2', { active: true }),
    told('q6', { active: true }),
  ],
  'a token is revoked once its code is replayed': [asked(raced({}))],
  'a block takes effect on every replica at once': [told('q3', { active: true })],
  'a client instance has at most one active token per user': [told('q4', { active: true })],
  'every row of the audit trail comes from a request': [
    noted(event(2_500, 'revoked_by_user', 'unknown', { grantId: 'shop-grant' })),
    noted(event(1_210, 'signed_in', 'r2')),
  ],
  'each confirmed action has its row in the trail': [unnoted('r4'), unnoted('r0'), noted(exchangedAgain)],
  'the rows of the audit trail are in a valid order': [noted(exchangedAgain)],
  'the audit trail and the grants agree': [
    { grants: [ofShopRow, { ...ofBankRow, revokedAt: null }] },
    { grants: [ofShopRow] },
    unnoted('r7'),
    { grants: [{ ...ofShopRow, revision: 3 }, ofBankRow] },
  ],
  'the token of a grant is the one issued by its last exchange': [
    { grants: [{ ...ofShopRow, tokenHash: 'another' }, ofBankRow] },
  ],
  'a client instance has at most one grant per user': [
    { grants: [...grants, { ...ofShopRow, grantId: 'another' }] },
  ],
  'a refused request is not carried out': [told('r4', REFUSED)],
  'a request answered 503 is not carried out, or only in time if PostgreSQL’s answer was lost': [
    told('r4', UNAVAILABLE),
    late,
  ],
  'no response is a 5xx except 503': [told('q1', { told: 'refused', status: 500 })],
  'every 503 has a Retry-After header': [told('q1', { told: 'unavailable', status: 503 })],
  'no process ends by itself': [{ lives: lives.map((life) => ({ ...life, killed: false })) }],
  'no unexpected error is logged': [
    { lives: lives.map((life) => ({ ...life, output: '{"level":"error","err":{"stack":"TypeError: x"}}' })) },
  ],
  'no log contains a secret': [{ leaks: ['access token, as it is, in line 1 of replica 0'] }],
};

const blocked = [
  entry(1_380, 'block', 'o3', { told: 'nothing', status: null }),
  entry(1_390, 'unblock', 'o4', { mayBeIdle: true }),
];
const unanswered = changed('r4', UNANSWERED).filter(({ ref }) => ref !== 'q5');
const lostRefusal = told('r4', { ...REFUSED, during: 'killPostgres' });

/** Evidence without findings: the exceptions of README.md. */
const ADMITTED: readonly (readonly [what: string, Change])[] = [
  ['evidence without a violation', {}],
  ['a 503 to an action that was done, if PostgreSQL’s answer was lost', told('r7', LOST)],
  ['a 503 to an action that PostgreSQL completed after a pause', { ...late, frozenAt: [2_210] }],
  ['a second exchange that was answered 503', asked(raced(UNAVAILABLE))],
  ['a second exchange without a response', asked(raced(UNANSWERED))],
  ['a second exchange with another request body', asked(raced({ body: 'another' }))],
  [
    'a second exchange so long after Allow that the code may have expired',
    asked(raced({}), entry(-8_500, 'approve', '', { ...ofShop, form: 'f2', ...UNANSWERED })),
  ],
  ['a second exchange while its user may have been blocked', asked(raced({ askedAt: 1_390 }), ...blocked)],
  [
    'another request with the same reference',
    asked(entry(1_650, 'introspect', 'r4', { ...ofShop, token: 't2', active: true })),
  ],
  ['an exchange without a response, with a row in the audit trail', { entries: unanswered }],
  [
    'an exchange without a response, and without a row in the audit trail',
    { entries: unanswered, ...unnoted('r4'), grants: [{ ...ofShopRow, tokenHash: null }, ofBankRow] },
  ],
];

describe('the auditor', () => {
  it.each(RULES)('finds a violation of the rule: $name', ({ name }) => {
    const faults = PLANTED[name] ?? [];
    expect(faults).not.toEqual([]);
    for (const fault of faults) expect(Object.keys(audit({ ...SOUND, ...fault }))).toContain(name);
  });

  it.each(ADMITTED)('accepts %s', (_what, change) => {
    expect(audit({ ...SOUND, ...change })).toEqual({});
  });

  it.each([
    ['accepts', 'within 3 seconds after', 1_000, 0],
    ['reports', 'more than 3 seconds after', -1_500, 1],
    ['reports', 'before', 1_600, 1],
  ])('%s an outdated response of a former primary %s a takeover', (_verdict, _when, at, findings) => {
    const outdated = { ...SOUND, ...told('q2', { active: true }), overtakenAt: [at] };
    expect(Object.keys(audit(withoutOvertaken(outdated)))).toHaveLength(findings);
    expect(Object.keys(audit(outdated))).toHaveLength(1);
  });

  it('accepts a refused exchange whose first response was lost and whose code was replayed', () => {
    const rule = 'a refused request is not carried out';
    const replayed = noted(event(1_630, 'replayed', 'x', { grantId: 'shop-grant' }));
    expect(Object.keys(audit({ ...SOUND, ...lostRefusal }))).toContain(rule);
    expect(Object.keys(audit({ ...SOUND, ...lostRefusal, ...replayed }))).not.toContain(rule);
  });
});
