import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/flows/common/context.ts';
import { type FormBinding, signForm, verifyForm } from '../../src/flows/common/signedForm.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { KeyRing } from '../../src/secrets/keyRing.ts';
import { newSecret } from '../support/ledger.ts';

const keyRing = new KeyRing([newSecret()]);
const context = { keyRing } as unknown as Context;

const owner = { sessionHash: sha256('a session'), now: new Date('2026-11-20T17:00:00Z') };
const form: FormBinding = { action: 'decision', owner, subject: ['a user', 'a grant', 3, 'client_id=x'] };

describe('the CSRF token of a form', () => {
  it.each<[string, Partial<FormBinding>]>([
    ['another action', { action: 'disconnect' }],
    ['its confirmation page', { action: 'allow' }],
    ['a subject with the same text split differently', { subject: ['a user","a grant', 3, 'client_id=x'] }],
    ['a subject with a number as text', { subject: ['a user', 'a grant', '3', 'client_id=x'] }],
  ])('is refused for %s', (_what, change) => {
    const token = signForm(context, form, 7);
    expect(verifyForm(context, token, form)?.revision).toBe(7);
    expect(verifyForm(context, token, { ...form, ...change })).toBeNull();
  });

  it.each(['sign-out', 'disconnect', 'stop-everything'] as const)(
    'is valid as long as a session: %s',
    (action) => {
      const token = signForm(context, { ...form, action });
      const found = [11.9, 12].map((hours) => {
        const now = new Date(owner.now.getTime() + hours * 3_600_000);
        return verifyForm(context, token, { ...form, action, owner: { ...owner, now } });
      });
      expect(found.map((one) => one !== null)).toEqual([true, false]);
    },
  );
});
