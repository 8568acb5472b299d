import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '../../../rules/common/caller.ts';
import { PROVIDER_SIGN_IN_MS } from '../../../rules/common/lifetimes.ts';
import { rateLimitNetworkOf } from '../../../rules/common/network.ts';
import { emit } from '../../../signals/events.ts';
import { limitFailures } from '../../common/failureLimit.ts';
import { ProviderAwayError } from '../../common/provider.ts';
import { refused } from './user.ts';

/** Codes exchanged at once. A tenth is the most of one network or known user; those alone use the last tenth. */
const MAX_EXCHANGES_AT_ONCE = 100;
const TENTH = MAX_EXCHANGES_AT_ONCE / 10;
/** Left of a request's time for the exchange and the session, after waiting for a place. */
const EXCHANGE_MS = 2_000;
const LOOK_MS = 50;
/** Exchanges of one sign-in: its browser needs one. */
const MAX_EXCHANGES = 3;
/** Codes of one network or known user that the provider refused in a minute: browsers make up no codes. */
const MAX_REFUSED = 30;

/** Shares the exchanges of codes at the provider, each with the operator's credentials, and bounds those of made-up codes. */
export class ExchangeLimiter {
  readonly #noteExchange = limitFailures(MAX_EXCHANGES, PROVIDER_SIGN_IN_MS);
  readonly #noteRefused = limitFailures(MAX_REFUSED, 60_000);
  readonly #running: string[] = [];
  readonly #waiting: string[] = [];

  /** @param user of a known device @throws {OAuthError} for an old state or many refusals; {@link ProviderAwayError} if busy */
  async run<Result>(caller: Caller, user: string | null, state: string, exchange: () => Promise<Result>) {
    const key = user ?? rateLimitNetworkOf(caller.address);
    const places = user === null ? MAX_EXCHANGES_AT_ONCE - TENTH : MAX_EXCHANGES_AT_ONCE;
    if (this.#noteRefused(key, 0) > 0) {
      emit('throttle', 'failures');
      throw refused('too_many_tries', 'the provider refused too many codes from this network or user');
    }
    const hasTenth = (keys: readonly string[]) => keys.filter((other) => other === key).length >= TENTH;
    while (this.#running.length >= places || hasTenth(this.#running)) {
      if (hasTenth(this.#waiting) || performance.now() > caller.decideBy - EXCHANGE_MS)
        throw new ProviderAwayError(new Error('too many sign-ins at once'));
      this.#waiting.push(key);
      await pause(LOOK_MS);
      this.#waiting.splice(this.#waiting.indexOf(key), 1);
    }
    if (this.#noteExchange(state) > 0) throw refused('sign_in_lost', 'this sign-in was already completed');
    this.#running.push(key);
    try {
      const result = await exchange();
      this.#noteExchange(state, MAX_EXCHANGES); // no further one
      return result;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'OAUTH_RESPONSE_BODY_ERROR') this.#noteRefused(key);
      throw error;
    } finally {
      this.#running.splice(this.#running.indexOf(key), 1);
    }
  }
}
