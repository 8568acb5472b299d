import { LruMap } from 'toad-cache';
import type { Logo } from '../../rules/face/logo.ts';
import { parseLogoPath } from '../../rules/request/client.ts';
import { findLogo } from '../../store/common/clients.ts';
import type { Context } from '../common/context.ts';

/** Logos in a server's memory, 16 MB at most: reading one again takes milliseconds. */
const MAX_LOGOS = 256;

/** Finds a logo by its name in `logoPath`; null if unknown. The name has a hash of the bytes, so a kept logo is never stale. */
export function logoFinder({ db }: Context): (name: string) => Promise<Logo | null> {
  const kept = new LruMap<Buffer>(MAX_LOGOS);
  return async (name) => {
    const parsed = parseLogoPath(name);
    const body = parsed && (kept.get(name) ?? (await findLogo(db, parsed)));
    if (parsed === null || body === null) return null;
    kept.set(name, body);
    return { file: parsed.file, body };
  };
}
