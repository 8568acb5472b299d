import type { Application } from '../../../examples/oauthClient.mjs';
import type { Resource } from './paymentApi.ts';

/** A person of the trial, who can sign in at the server. */
export interface TrialUser {
  readonly login: string;
  readonly name: string;
  readonly password: string;
  /** Null for one who has none. */
  readonly paymentPassword: string | null;
}

/** What the application was given: where it is and where the server is, what it was registered with, and whom it introduces. */
export interface DemoSettings {
  readonly url: string;
  readonly application: Application;
  readonly resource: Resource;
  /** To be shown on the first page: no application knows passwords, but in a trial there must be a place to read them. */
  readonly users: readonly TrialUser[];
  /** In which days are told: the server's. */
  readonly timeZone: string;
}
