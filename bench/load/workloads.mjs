import { approval, flow, page } from './consent.mjs';
import { peerFlow } from './peerFlow.mjs';
import { signIn } from './signIn.mjs';
import { token } from './token.mjs';

/** @type {Record<string, import('./drive.mjs').Workload>} what can be asked */
export const WORKLOADS = { token, page, approval, flow, peerFlow, signIn };
