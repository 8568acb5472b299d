import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyRing, type SignaturePurpose } from '../../src/secrets/keyRing.ts';
import { forAny } from '../rules/arbitraries.ts';

const ring = new KeyRing(['an entry of SECRETS, long enough']);

/** The id of the entry that a ring signs with. */
function signingKeyId(signer: KeyRing): Buffer {
  const id = signer.verify('form', signer.sign('form', Buffer.of(0)))?.keyId;
  if (id === undefined) throw new Error('a ring verifies what it signs');
  return id;
}

const purpose = fc.constantFrom<SignaturePurpose[]>('form', 'visit', 'device', 'provider');
const payload = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('signed values on Assent’s pages', () => {
  it('are accepted: verifying returns the signed payload and the id of the signing key', () => {
    forAny(purpose, payload, (use, data) => {
      const signed = ring.sign(use, data);
      expect(signed).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(ring.verify(use, signed)).toEqual({ keyId: signingKeyId(ring), payload: data });
    });
  });

  it('are refused for another purpose', () => {
    forAny(purpose, purpose, payload, (use, other, data) => {
      expect(ring.verify(other, ring.sign(use, data)) !== undefined).toBe(use === other);
    });
  });

  it('are refused with any flipped bit', () => {
    forAny(purpose, payload, fc.nat(), fc.nat({ max: 7 }), (use, data, at, bit) => {
      const bytes = Buffer.from(ring.sign(use, data), 'base64url');
      const index = at % bytes.length;
      bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << bit), index);
      expect(ring.verify(use, bytes.toString('base64url'))).toBeUndefined();
    });
  });

  it('are refused when truncated or with an inserted byte', () => {
    forAny(payload, fc.nat(), (data, at) => {
      const bytes = Buffer.from(ring.sign('form', data), 'base64url');
      const index = at % bytes.length;
      const [before, after] = [bytes.subarray(0, index), bytes.subarray(index)];
      for (const forged of [before, Buffer.concat([before, Buffer.of(0), after])])
        expect(ring.verify('form', forged.toString('base64url'))).toBeUndefined();
    });
  });

  it('are refused in every other encoding of the same bytes', () => {
    fc.assert(
      fc.property(payload, (data) => {
        const signed = ring.sign('form', data);
        const bytes = Buffer.from(signed, 'base64url');
        const others = [
          bytes.toString('base64'),
          ...['=', '==', '\n', ' ', '.'].flatMap((junk) => [signed + junk, junk + signed]),
          ...Array.from(LETTERS, (letter) => signed.slice(0, -1) + letter),
        ].filter((other) => other !== signed && bytes.equals(Buffer.from(other, 'base64url')));
        expect(others.length).toBeGreaterThan(0);
        for (const other of others) expect(ring.verify('form', other)).toBeUndefined();
      }),
      { examples: [[Buffer.of(1)], [Buffer.of(1, 2)]] },
    );
  });
});

describe('the secret of an authorization code', () => {
  const id = signingKeyId(ring);

  it('is the same for one decision and different for any other decision', () => {
    forAny(payload, payload, (one, other) => {
      expect(ring.codeSecret(id, one)).toHaveLength(32);
      expect(ring.codeSecret(id, one).equals(ring.codeSecret(id, other))).toBe(one.equals(other));
    });
  });

  it('differs from a signature of the same bytes', () => {
    forAny(purpose, payload, (use, data) => {
      const signature = Buffer.from(ring.sign(use, data), 'base64url').subarray(-32);
      expect(ring.codeSecret(id, data).equals(signature)).toBe(false);
    });
  });
});
