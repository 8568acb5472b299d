import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyRing, type SignaturePurpose } from '../../src/secrets/keyRing.ts';
import { forAny } from '../rules/arbitraries.ts';

const OLD = 'the old entry of SECRETS, long enough';
const NEW = 'the new entry of SECRETS, long enough';
const ring = new KeyRing([OLD]);

/** The id of the entry that a ring signs with, as it stands in what was signed. */
function signingKeyId(signer: KeyRing): Buffer {
  const id = signer.verify('form', signer.sign('form', Buffer.of(0)))?.keyId;
  if (id === undefined) throw new Error('a ring verifies what it signs');
  return id;
}

const purpose = fc.constantFrom<SignaturePurpose[]>('form', 'visit', 'device');
const payload = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('signatures of Assent’s pages', () => {
  it('verify to the signed payload, and the entry that signed it', () => {
    forAny(purpose, payload, (use, data) => {
      const signed = ring.sign(use, data);
      expect(signed).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(ring.verify(use, signed)).toEqual({ keyId: signingKeyId(ring), payload: data });
    });
  });

  it('are refused for another use', () => {
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

  it('are refused with bytes removed, inserted or moved between payload and signature', () => {
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

  it('can be checked for any string without an error', () => {
    const letters = fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 100 });
    forAny(purpose, fc.oneof(fc.string({ unit: 'grapheme' }), letters), (use, signed) => {
      expect(ring.verify(use, signed)).toBeUndefined();
    });
  });
});

describe('the rotation old,new → new,old → new', () => {
  const stages = [new KeyRing([OLD, NEW]), new KeyRing([NEW, OLD]), new KeyRing([NEW])] as const;
  const [before, during, after] = stages;
  const data = Buffer.from('a page');

  it.each([
    ['what the old entry signed, while it is there', ring, before, true],
    ['what the old entry signed, once the new one signs', before, during, true],
    ['what the new entry signed, on a replica that does not sign with it yet', during, before, true],
    ['what the new entry signed, after the old one is gone', during, after, true],
    ['what the old entry signed, after it is gone', before, after, false],
    ['what the new entry signed, on a replica that does not know it', during, ring, false],
  ])('%s', (_what, signer, verifier, accepted) => {
    const verified = verifier.verify('form', signer.sign('form', data));
    expect(verified).toEqual(accepted ? { keyId: signingKeyId(signer), payload: data } : undefined);
  });

  it('signs with the first entry', () => {
    expect(signingKeyId(before)).toEqual(signingKeyId(ring));
    expect(signingKeyId(during)).toEqual(signingKeyId(after));
    expect(signingKeyId(before)).not.toEqual(signingKeyId(during));
  });

  it('keeps the code of a decision while the entry that signed the page exists', () => {
    const id = signingKeyId(before);
    expect(during.codeSecret(id, data)).toEqual(before.codeSecret(id, data));
    expect(() => after.codeSecret(id, data)).toThrow('no entry of SECRETS');
  });
});

describe('the secret of a code', () => {
  const id = signingKeyId(ring);

  it('is 32 bytes, stable for a decision and different for any other', () => {
    forAny(payload, payload, (one, other) => {
      expect(ring.codeSecret(id, one)).toHaveLength(32);
      expect(ring.codeSecret(id, one).equals(ring.codeSecret(id, other))).toBe(one.equals(other));
    });
  });

  it('differs between two entries', () => {
    const both = new KeyRing([OLD, NEW]);
    const newId = signingKeyId(new KeyRing([NEW]));
    expect(both.codeSecret(id, Buffer.of(1))).not.toEqual(both.codeSecret(newId, Buffer.of(1)));
  });

  it('is not the signature on the page', () => {
    const data = Buffer.from('a decision');
    for (const use of ['form', 'visit', 'device'] as const) {
      const signature = Buffer.from(ring.sign(use, data), 'base64url').subarray(-32);
      expect(ring.codeSecret(id, data)).not.toEqual(signature);
    }
  });
});
