import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/flows/common/context.ts';
import { type Form, signForm, verifyForm } from '../../src/flows/common/signedForm.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { KeyRing } from '../../src/secrets/keyRing.ts';
import { newSecret } from '../support/ledger.ts';

const keyRing = new KeyRing([newSecret()]);
const context = { keyRing } as unknown as Context;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const shown = new Date('2026-11-20T17:00:00Z');
const later = (milliseconds: number) => new Date(shown.getTime() + milliseconds);
const owner = { sessionHash: sha256('a session'), now: shown };
const form: Form = { action: 'decision', owner, subject: ['a user', 'a grant', 3, 'client_id=x'] };

describe('the token of a form', () => {
  it.each<[Form['action'], string, number]>([
    ['decision', '15 minutes', 15 * MINUTE],
    ['payment-password', 'as long as a session', 12 * HOUR],
    ['sign-out', 'as long as a session', 12 * HOUR],
    ['disconnect', 'as long as a session', 12 * HOUR],
    ['disconnect-all', 'as long as a session', 12 * HOUR],
    ['sign-in', 'over a night and over a holiday, a week', 7 * 24 * HOUR],
  ])('for %s is good for %s', (action, _words, lifetime) => {
    const token = signForm(context, { ...form, action });
    const at = (now: Date) => verifyForm(context, token, { ...form, action, owner: { ...owner, now } });
    expect(at(later(lifetime - 1))?.expiresAt).toEqual(later(lifetime));
    expect(at(later(lifetime))).toBeNull();
  });

  it.each<[string, Partial<Form>]>([
    ['another action', { action: 'disconnect' }],
    ['another session', { owner: { ...owner, sessionHash: sha256('another session') } }],
    ['another subject', { subject: ['a user', 'a grant', 4, 'client_id=x'] }],
    ['a subject that is cut otherwise', { subject: ['a user","a grant', 3, 'client_id=x'] }],
    ['a number that is text', { subject: ['a user', 'a grant', '3', 'client_id=x'] }],
    ['less', { subject: ['a user', 'a grant', 3] }],
  ])('does not fit %s', (_what, change) => {
    const token = signForm(context, form, 7);
    expect(verifyForm(context, token, form)?.revision).toBe(7);
    expect(verifyForm(context, token, { ...form, ...change })).toBeNull();
  });

  it('says the same of one form and revision, whenever it was shown, and nothing that another says', () => {
    const contentOf = (revision: number, changed: Form) =>
      verifyForm(context, signForm(context, changed, revision), changed)?.content;
    const first = contentOf(1, form);
    expect(contentOf(1, { ...form, owner: { ...owner, now: later(MINUTE) } })).toBe(first);
    const others = [contentOf(2, form), contentOf(12, form), contentOf(1, { ...form, subject: [] })];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  it('of a decision names its page: each has another, also at one moment, and each time the same', () => {
    const pageOf = (token: string) => verifyForm(context, token, form)?.page;
    const [one, other] = [signForm(context, form, 1), signForm(context, form, 1)];
    expect(pageOf(one)).toBe(pageOf(one));
    expect(pageOf(one)).not.toBe(pageOf(other));
  });

  it('is taken as earlier builds made it, without a name for its page', () => {
    const signed = JSON.parse(payloadOf(signForm(context, form, 3)).toString());
    expect(signed).toHaveLength(4);
    const earlier = keyRing.sign('form', Buffer.from(JSON.stringify(signed.slice(0, 3))));
    expect(verifyForm(context, earlier, form)?.revision).toBe(3);
  });

  it.each([
    ['no token', undefined],
    ['a digest alone', keyRing.sign('form', Buffer.alloc(32, 7))],
    ['a JSON document of another kind', keyRing.sign('form', Buffer.from('{"revision":1}'))],
    ['the same signed for another use', keyRing.sign('visit', payloadOf(signForm(context, form)))],
  ])('is refused when it is %s', (_what, token) => {
    expect(verifyForm(context, token, form)).toBeNull();
  });
});

function payloadOf(token: string): Buffer {
  return keyRing.verify('form', token)?.payload ?? Buffer.alloc(0);
}
