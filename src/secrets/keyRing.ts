import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;

/** The uses of a signature; each is valid for one only. */
export type SignaturePurpose = 'form' | 'decision' | 'visit' | 'device' | 'provider';

/** Signs contents of pages and cookies. The first entry of `SECRETS` signs, all verify, so entries rotate without a pause. */
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

  /** Key id and payload of a signature by any of the entries; undefined for other text. */
  verify(purpose: SignaturePurpose, signed: string): { keyId: Buffer; payload: Buffer } | undefined {
    const bytes = Buffer.from(signed, 'base64url');
    // Node's base64url decoder is lenient: only the canonical spelling is accepted.
    if (bytes.length < KEY_ID_BYTES + KEY_BYTES || bytes.toString('base64url') !== signed) return undefined;
    const keyId = bytes.subarray(0, KEY_ID_BYTES);
    const payload = bytes.subarray(KEY_ID_BYTES, -KEY_BYTES);
    const keys = this.#find(keyId);
    if (!keys || !timingSafeEqual(hmac(keys[purpose], payload), bytes.subarray(-KEY_BYTES))) return undefined;
    return { keyId, payload };
  }

  has(keyId: Buffer): boolean {
    return this.#find(keyId) !== undefined;
  }

  /** The 32 secret bytes of a decision's code, from the entry that signed its form: pressing Allow twice gives one code. */
  codeSecret(keyId: Buffer, decision: Uint8Array): Buffer {
    const keys = this.#find(keyId);
    if (keys === undefined) throw new Error('no entry of SECRETS has this key id');
    return hmac(keys.code, decision);
  }

  /** The keys of an endpoint's webhooks, one of each entry: what the first signs is current, and all are sent during a rotation. */
  webhookKeys(endpoint: string): Buffer[] {
    return this.#entries.map(({ webhook }) => hmac(webhook, Buffer.from(endpoint)));
  }

  /** The hash that chooses a counter's slot, keyed so that attackers can't find colliding names. @returns 32 bits */
  slotDigest(name: string): number {
    const [{ slot }] = this.#entries;
    return hmac(slot, Buffer.from(name)).readUInt32BE();
  }

  #find(id: Buffer): Keys | undefined {
    return this.#entries.find((keys) => keys.id.equals(id));
  }
}

/** The keys of one entry of `SECRETS`, which signatures name by `id`. */
type Keys = ReturnType<typeof deriveKeys>;

function deriveKeys(secret: string) {
  const derive = (label: string, length = KEY_BYTES) =>
    Buffer.from(hkdfSync('sha256', secret, 'assent', `assent ${label} 1`, length));
  const keyFor = (use: string) => createSecretKey(derive(use));
  return {
    id: derive('key id', KEY_ID_BYTES),
    form: keyFor('form'),
    decision: keyFor('decision'),
    visit: keyFor('visit'),
    device: keyFor('device'),
    provider: keyFor('provider'),
    code: keyFor('code'),
    slot: keyFor('slot'),
    webhook: keyFor('webhook'),
  };
}

function hmac(key: KeyObject, data: Uint8Array): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
