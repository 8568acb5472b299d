import type { Application } from '../../examples/oauthClient.mjs';
import type { Sentences as Texts } from '../texts/en.d.ts';
import type { Resource } from './paymentApi.ts';

type DemoUser = Readonly<Record<'login' | 'name' | 'password', string> & { paymentPassword: string | null }>;

/** The texts of `demo/texts` and their formats, by tag. */
export type Languages = ReadonlyMap<string, Texts & { readonly formats: object }>;

/** The application's addresses, credentials and users, filled in by `src/trial/startTrial.ts`. */
export interface DemoSettings {
  readonly url: string;
  readonly application: Application;
  readonly resource: Resource;
  /** Shown on the first page. Real applications know no passwords, but a trial must show them somewhere. */
  readonly users: readonly DemoUser[];
  /** Registers an application for an hour. @throws {Error} with a sentence for invalid fields */
  readonly register: (
    name: string,
    redirectUri: string,
  ) => Promise<Pick<Application, 'clientId' | 'clientSecret'>>;
  /** The server's, by IANA name, for showing days. */
  readonly timeZone: string;
  readonly languages: Languages;
  /** The service's only one, ISO 4217. */
  readonly currency: string;
}
