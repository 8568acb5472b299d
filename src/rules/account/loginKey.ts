import { MAX_LOGIN_BYTES } from '../common/limits.ts';

/** Ignores case, variants of a letter and invisible characters. PostgreSQL's `lower` depends on its locale. */
export function loginKey(login: string): string {
  // Normalizing can take quadratic time. The key of a registered login has no capitals, so this one matches none.
  if (Buffer.byteLength(login) > MAX_LOGIN_BYTES) return `TOO LONG ${login}`;
  const visible = login.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.normalize('NFKC').toLowerCase().normalize('NFKC');
}
