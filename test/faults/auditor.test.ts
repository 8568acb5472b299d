import { describe, expect, it } from 'vitest';
import { audit, RULES } from './auditor.ts';
import type { Evidence } from './evidence.ts';
import type { Entry } from './journal.ts';
import { changed, entry, event, ofShop, SOUND } from './sample.ts';

const { entries, events, grants, lives } = SOUND;
const [ofShopRow, ofBankRow] = grants as [Evidence['grants'][number], Evidence['grants'][number]];
const without = (ref: string) => events.filter(({ reference }) => reference !== ref);

const UNAVAILABLE = { told: 'unavailable', status: 503, retryAfter: '1' } as const;
const REFUSED = { told: 'refused', status: 400, why: 'invalid_grant' } as const;
/** Entries among which the exchange of `t2`, which is live, came once more. */
const raced = (more: Partial<Entry>) => [
  ...entries,
  entry(1_590, 'exchange', 'x', { ...ofShop, code: 'c2', ...REFUSED, ...more }),
];

type Planted = readonly [rule: string, what: string, fault: Partial<Evidence>];

/** Each fault breaks the rule before it; some break others, too. */
const PLANTED: readonly Planted[] = [
  [
    'a code is exchanged at most once',
    'a second token for a code',
    { entries: [...entries, entry(1_700, 'exchange', 'x', { ...ofShop, code: 'c2', token: 'another' })] },
  ],
  [
    'a code is exchanged within its lifetime',
    'a token for a code of 20 seconds ago',
    { entries: changed(entries, 'r4', { askedAt: 21_500, toldAt: 21_600 }) },
  ],
  [
    'a token that was told is live until something ends it',
    'a token that is refused though nobody ended it',
    { entries: changed(entries, 'q5', { active: false }) },
  ],
  [
    'a token that was annulled or revoked stays dead',
    'a token that is accepted after a new authorization',
    { entries: changed(entries, 'q2', { active: true }) },
  ],
  [
    'a token that was annulled or revoked stays dead',
    'a revocation that was lost',
    { entries: changed(entries, 'q6', { active: true }) },
  ],
  [
    'a token that was told is live until something ends it',
    'a token that is refused, with a revocation that was told "not done"',
    {
      entries: [
        ...changed(entries, 'q5', { active: false }),
        entry(1_650, 'revoke', 'x', { ...ofShop, token: 't2', ...UNAVAILABLE }),
      ],
    },
  ],
  [
    'a token that was told is live until something ends it',
    'a token that is refused, with a revocation whose time was over before, though its answer was lost',
    {
      entries: [
        ...changed(entries, 'q5', { active: false }),
        entry(-8_000, 'revoke', 'x', { ...ofShop, token: 't2', ...UNAVAILABLE, during: 'killPostgres' }),
      ],
    },
  ],
  [
    'a token is dead once its code came again in time',
    'a replay that revoked nothing',
    { entries: raced({}) },
  ],
  [
    'a block holds on every replica at once',
    'a token that is accepted while its client is blocked',
    { entries: changed(entries, 'q3', { active: true }) },
  ],
  [
    'of each user, client and instance one token is live',
    'two tokens that are live at the end',
    { entries: changed(entries, 'q4', { active: true }) },
  ],
  [
    'every row of the trail was asked for',
    'an untrue row of a request that nobody made',
    { events: [...events, event(2_500, 'revoked_by_user', 'nobody', { grantId: 'shop-grant' })] },
  ],
  [
    'every row of the trail was asked for',
    'an untrue row about what was asked for something else',
    { events: [...events, event(1_210, 'signed_in', 'r2')] },
  ],
  [
    'everything that was told has its row in the trail',
    'an exchange without a row',
    { events: without('r4') },
  ],
  ['everything that was told has its row in the trail', 'a sign-in without a row', { events: without('r0') }],
  [
    'everything that was told has its row in the trail',
    'one exchange with two rows',
    { events: [...events, event(1_630, 'exchanged', 'r4', { grantId: 'shop-grant' })] },
  ],
  [
    'the rows of the trail follow each other',
    'a second exchange after one approval',
    { events: [...events, event(1_630, 'exchanged', 'r4', { grantId: 'shop-grant' })] },
  ],
  [
    'the trail and the grants say the same',
    'a revocation that the row lost',
    { grants: [ofShopRow, { ...ofBankRow, revokedAt: null }] },
  ],
  ['the trail and the grants say the same', 'a row that was deleted', { grants: [ofShopRow] }],
  [
    'the trail and the grants say the same',
    'a revocation without a row in the trail',
    { events: without('r7') },
  ],
  [
    'the trail and the grants say the same',
    'a revision too many',
    { grants: [{ ...ofShopRow, revision: 3 }, ofBankRow] },
  ],
  [
    'the token of a grant is the one that its last exchange was told',
    'a token that nobody was told',
    { grants: [{ ...ofShopRow, tokenHash: 'another' }, ofBankRow] },
  ],
  [
    'a user, a client and an instance have one grant',
    'a second grant of one key',
    { grants: [...grants, { ...ofShopRow, grantId: 'another' }] },
  ],
  [
    'what was refused was not done',
    'an exchange that was refused and has its row',
    { entries: changed(entries, 'r4', REFUSED) },
  ],
  [
    'what was answered 503 was not done, unless an answer was lost, and is not done later',
    'an exchange that was answered 503 and has its row',
    { entries: changed(entries, 'r4', UNAVAILABLE) },
  ],
  [
    'what was answered 503 was not done, unless an answer was lost, and is not done later',
    'a revocation that came when its time was over, though answers were lost then',
    {
      entries: changed(entries, 'r7', { ...UNAVAILABLE, during: 'killPostgres' }),
      events: changed(events, 'r7', { at: 9_500 }),
    },
  ],
  [
    'no answer is a 5xx but 503',
    'a 500',
    { entries: changed(entries, 'q1', { told: 'refused', status: 500 }) },
  ],
  [
    'every 503 says when to come back',
    'a 503 without Retry-After',
    { entries: changed(entries, 'q1', { told: 'unavailable', status: 503 }) },
  ],
  [
    'no process ends that nobody ended',
    'a replica that died',
    { lives: lives.map((life) => ({ ...life, killed: false })) },
  ],
  [
    'no error comes that nobody thought of',
    'a stack in the log',
    { lives: lives.map((life) => ({ ...life, output: '{"level":"error","err":{"stack":"TypeError: x"}}' })) },
  ],
  [
    'no log tells a secret',
    'a secret in a log',
    { leaks: ['access token, as it is, in line 1 of replica 0'] },
  ],
];

describe('the auditor', () => {
  it('finds nothing where all is well', () => {
    expect(audit(SOUND)).toEqual({});
  });

  it.each(PLANTED)('%s: finds %s', (rule, _what, fault) => {
    expect(Object.keys(audit({ ...SOUND, ...fault }))).toContain(rule);
  });

  it('has a planted fault for each of its rules', () => {
    const planted = new Set(PLANTED.map(([rule]) => rule));
    expect(RULES.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
  });

  it('admits a 503 that was done where an answer was lost', () => {
    const lost = { ...UNAVAILABLE, during: 'killPostgres' };
    expect(audit({ ...SOUND, entries: changed(entries, 'r7', lost) })).toEqual({});
  });

  it('admits a 503 that was done when PostgreSQL, which was stopped meanwhile, went on', () => {
    const late = {
      entries: changed(entries, 'r7', { ...UNAVAILABLE, during: 'killPostgres' }),
      events: changed(events, 'r7', { at: 9_500 }),
    };
    expect(audit({ ...SOUND, ...late, frozenAt: [2_210] })).toEqual({});
  });

  const unanswered = { told: 'nothing', status: null, ref: null } as const;
  const firstPress = entry(-8_500, 'approve', '', { ...ofShop, form: 'f2', ...unanswered });
  const blocked = [
    entry(1_380, 'block', 'o3', { told: 'nothing', status: null }),
    entry(1_390, 'unblock', 'o4', { mayBeIdle: true }),
  ];
  it.each<[what: string, others: Entry[]]>([
    ['was answered 503', raced(UNAVAILABLE)],
    ['got no answer', raced(unanswered)],
    ['was another request', raced({ body: 'another' })],
    [
      'came so long after the first press of Allow that the code may have expired',
      [...raced({}), firstPress],
    ],
    ['may have been refused because its user was blocked', [...raced({ askedAt: 1_390 }), ...blocked]],
  ])('admits a live token where the second exchange of its code %s', (_what, others) => {
    expect(audit({ ...SOUND, entries: others })).toEqual({});
  });

  it('admits an exchange that was refused, when its first answer was lost and its code replayed before the second', () => {
    const refused = { ...REFUSED, during: 'killPostgres' };
    const fault = { entries: changed(entries, 'r4', refused) };
    const rule = 'what was refused was not done';
    expect(Object.keys(audit({ ...SOUND, ...fault }))).toContain(rule);
    const replay = event(1_630, 'replayed', 'x', { grantId: 'shop-grant' });
    const replayed = { ...fault, events: [...events, replay] };
    expect(Object.keys(audit({ ...SOUND, ...replayed }))).not.toContain(rule);
  });

  it('tells two requests of one reference apart', () => {
    const question = entry(1_650, 'introspect', 'r4', { ...ofShop, token: 't2', active: true });
    expect(audit({ ...SOUND, entries: [...entries, question] })).toEqual({});
  });

  it('admits an exchange that got no answer, with its row or without', () => {
    const cut = changed(entries, 'r4', { told: 'nothing', status: null, ref: null }).filter(
      ({ ref }) => ref !== 'q5',
    );
    expect(audit({ ...SOUND, entries: cut })).toEqual({});
    const undone = { ...ofShopRow, tokenHash: null };
    expect(audit({ ...SOUND, entries: cut, events: without('r4'), grants: [undone, ofBankRow] })).toEqual({});
  });
});
