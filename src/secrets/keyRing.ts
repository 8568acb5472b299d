import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;

/** The keys that one entry of `SECRETS` gives, one for each use, by HKDF with a label. */
interface Keys {
  /** Names the entry inside what it signed, so that all but one need not be tried. */
  readonly id: Buffer;
  readonly decision: Buffer;
  readonly form: Buffer;
  readonly visit: Buffer;
  readonly device: Buffer;
  readonly code: Buffer;
  readonly slot: Buffer;
}

/** The uses of a signature: what was signed for one can't be shown for another. */
export type SignaturePurpose = 'decision' | 'form' | 'visit' | 'device';

/**
 * Signs what our pages carry and verifies it when it comes back. The first entry of `SECRETS` signs, all
 * verify, so that entries can be replaced while people are in the middle of a flow.
 */
export class KeyRing {
  readonly #entries: readonly [Keys, ...Keys[]];

  /** @param secrets at least one entry of `SECRETS` */
  constructor([first, ...others]: readonly [string, ...string[]]) {
    this.#entries = [deriveKeys(first), ...others.map(deriveKeys)];
  }

  /** @returns base64url of key id, payload and HMAC-SHA-256 */
  sign(purpose: SignaturePurpose, payload: Uint8Array): string {
    const [keys] = this.#entries;
    return Buffer.concat([keys.id, payload, hmac(keys[purpose], payload)]).toString('base64url');
  }

  /** The payload of a signature made with any of the entries; undefined when it is none of ours. */
  verify(purpose: SignaturePurpose, signed: string): { keyId: Buffer; payload: Buffer } | undefined {
    const bytes = Buffer.from(signed, 'base64url');
    // base64url is lenient: only the one spelling that we made is ours.
    if (bytes.length < KEY_ID_BYTES + KEY_BYTES || bytes.toString('base64url') !== signed) return undefined;
    const keyId = bytes.subarray(0, KEY_ID_BYTES);
    const payload = bytes.subarray(KEY_ID_BYTES, -KEY_BYTES);
    const keys = this.#find(keyId);
    if (keys === undefined) return undefined;
    return timingSafeEqual(hmac(keys[purpose], payload), bytes.subarray(-KEY_BYTES))
      ? { keyId, payload }
      : undefined;
  }

  /**
   * The 32 secret bytes of the code that a decision gives: the same decision gives the same code, and
   * nobody without the entry that signed the page can compute it.
   *
   * @throws {Error} when no entry has that id
   */
  codeSecret(keyId: Buffer, decision: Uint8Array): Buffer {
    const keys = this.#find(keyId);
    if (keys === undefined) throw new Error('no entry of SECRETS has this key id');
    return hmac(keys.code, decision);
  }

  /**
   * Where a counter of this name is kept, so that nobody without `SECRETS` can tell which names share a place.
   *
   * @returns 32 bits
   */
  slotDigest(name: string): number {
    const [{ slot }] = this.#entries;
    return hmac(slot, Buffer.from(name)).readUInt32BE();
  }

  #find(id: Buffer): Keys | undefined {
    return this.#entries.find((keys) => keys.id.equals(id));
  }
}

function deriveKeys(secret: string): Keys {
  const derive = (label: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, 'assent', `assent ${label} 1`, length));
  return {
    id: derive('key id', KEY_ID_BYTES),
    decision: derive('decision', KEY_BYTES),
    form: derive('form', KEY_BYTES),
    visit: derive('visit', KEY_BYTES),
    device: derive('device', KEY_BYTES),
    code: derive('code', KEY_BYTES),
    slot: derive('slot', KEY_BYTES),
  };
}

function hmac(key: Buffer, data: Uint8Array): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
