import { hash, verify } from '@node-rs/argon2';

/** OWASP's first recommendation for argon2id: 19 MiB, 2 passes, 1 lane. The library's default is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @returns an argon2id hash in PHC string form, with its own salt */
export async function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), COST);
}

/**
 * Whether `password` is the one behind `stored`. Without a stored hash the same work is done for nothing,
 * so that the time of an answer doesn't tell whether a login exists.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const decoy = await decoyHash(); // awaited always: the first call must not tell either
  const matches = await verify(stored ?? decoy, password.normalize('NFKC'));
  return matches && stored !== null;
}

let decoyMade: Promise<string> | undefined;

function decoyHash(): Promise<string> {
  decoyMade ??= hashPassword('nobody has this password');
  return decoyMade;
}
