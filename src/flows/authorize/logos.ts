import { contentTypeOf, isLogo } from '../../rules/face/logo.ts';
import { parseLogoPath } from '../../rules/request/client.ts';
import { findLogo } from '../../store/operate/clientLogos.ts';
import type { Context } from '../common/context.ts';

export type ServedLogo = Readonly<{ contentType: string; body: Buffer }>;

/** Logos in a server's memory, 16 MB at most: reading one again takes milliseconds. */
const MAX_KEPT = 256;

/** The logos of applications. A name contains a hash of the bytes, so a cached logo is never stale. */
export class ClientLogos {
  readonly #context: Context;
  /** The most recently requested come last; null for a logo of an earlier build that is no longer shown. */
  readonly #kept = new Map<string, ServedLogo | null>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param name as in `logoPath` after `/logo/` @returns null if unknown or removed */
  async find(name: string): Promise<ServedLogo | null> {
    const parsed = parseLogoPath(name);
    if (parsed === null) return null;
    let logo = this.#kept.get(name);
    if (logo === undefined) {
      const body = await findLogo(this.#context.db, parsed);
      if (body === null) return null;
      logo = isLogo(body) ? { contentType: contentTypeOf(parsed.file), body } : null;
    }
    this.#kept.delete(name);
    this.#kept.set(name, logo);
    const [oldest = name] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
    return logo;
  }
}
