import type { Application } from '../../examples/oauthClient.mjs';
import type { Resource } from './paymentApi.ts';

type DemoUser = Readonly<Record<'login' | 'name' | 'password', string> & { paymentPassword: string | null }>;

export type Registered = Readonly<Record<'clientId' | 'clientSecret', string>>;

/** Addresses, credentials and users that the application was given; `src/trial/startTrial.ts` fills them in. */
export interface DemoSettings {
  readonly url: string;
  readonly application: Application;
  readonly resource: Resource;
  /** Shown on the first page: no application knows passwords, but in a trial there must be a place to read them. */
  readonly users: readonly DemoUser[];
  /** Registers an application for an hour. @throws {Error} with a sentence, for what it may not be */
  readonly register: (name: string, redirectUri: string) => Promise<Registered>;
  /** The server's, by its IANA name: days are shown in it. */
  readonly timeZone: string;
}
