import { approval, flow, page } from './consent.mjs';
import { peerFlow } from './peerFlow.mjs';
import { signIn } from './signIn.mjs';
import { token } from './token.mjs';

/**
 * What can be asked. `prepare` makes a question of an item before anything starts, `before` is asked outside of the time
 * that counts, `ask` is what is measured: it throws unless every answer is right, and may name the outcome.
 */
export const WORKLOADS = { token, page, approval, flow, peerFlow, signIn };
