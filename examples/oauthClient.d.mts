/** An application as registered; `server` is the server's public address, without a trailing slash. */
export type Application = Readonly<Record<'server' | 'clientId' | 'clientSecret' | 'redirectUri', string>>;

export interface Attempt {
  readonly state: string;
  readonly verifier: string;
}

export class OAuthRefusal extends Error {
  readonly error: string;
  readonly description: string;
}

export function newAttempt(): Attempt;

export function authorizationRequest(
  application: Application,
  attempt: Attempt,
  scope: string,
  instanceName?: string,
): Record<string, string>;

export function readAnswer(query: URLSearchParams, attempt: Attempt | null): string;

export function exchange(
  application: Application,
  attempt: Attempt,
  code: string,
  fetch?: typeof globalThis.fetch,
): Promise<{ accessToken: string; expiresIn: number }>;

export function revoke(
  application: Application,
  token: string,
  fetch?: typeof globalThis.fetch,
): Promise<void>;
