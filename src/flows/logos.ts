import { parseLogoPath } from '../rules/client.ts';
import { contentTypeOf } from '../rules/logo.ts';
import { findLogo } from '../store/clientLogos.ts';
import type { Context } from './context.ts';

/** A picture as it is served. */
export interface ServedLogo {
  readonly contentType: string;
  readonly body: Buffer;
}

/** What a server keeps in memory of applications' logos, at least 64 of them. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** The logos of applications. A name holds a hash of the bytes, so what is kept is never stale. */
export class ClientLogos {
  readonly #context: Context;
  /** Those asked for last are last. */
  readonly #kept = new Map<string, Buffer>();
  #keptBytes = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param name as `logoPath` writes it behind `/logo/` @returns null when there is no such one (any more) */
  async find(name: string): Promise<ServedLogo | null> {
    const parsed = parseLogoPath(name);
    if (parsed === null) return null;
    const body = this.#kept.get(name) ?? (await findLogo(this.#context.db, parsed));
    if (body === null) return null;
    this.#keep(name, body);
    return { contentType: contentTypeOf(parsed.file), body };
  }

  #keep(name: string, body: Buffer): void {
    this.#forget(name);
    this.#kept.set(name, body);
    this.#keptBytes += body.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#keptBytes -= this.#kept.get(name)?.length ?? 0;
    this.#kept.delete(name);
  }
}
