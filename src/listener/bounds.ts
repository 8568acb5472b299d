import { randomUUID } from 'node:crypto';

/** Fastify would load its own JSON schema compilers, 140 files, even without schemas. */
function noSchemas(): never {
  throw new Error('routes here check their requests themselves, without JSON schemas');
}

export const BOUNDS = {
  genReqId: () => randomUUID().slice(-10), // cheap: Node draws many UUIDs at once, and their last digits are random
  /** For headers and body (Slowloris). */
  requestTimeout: 20_000,
  return503OnClosing: false, // arriving requests are answered; their connections close with the response
  http: {
    requireHostHeader: false, // `requestSmuggling.ts` does, with an answer and a log line
    /** Exceeds the longest accepted request, so that a slightly longer one still gets the contract's error page. */
    maxHeaderSize: 32 * 1024,
    headersTimeout: 10_000,
    connectionsCheckingInterval: 5_000,
  },
  schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
};
