import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { RequestFilteringHttpsAgent } from 'request-filtering-agent';

/** Where webhooks are posted. */
export interface Receiver {
  /** `wallet`, or `client:` with a client_id. */
  readonly name: string;
  readonly url: string;
  /** It may be in the operator's own network. */
  readonly isInternal: boolean;
}

export interface Webhook {
  /** The same at each try. */
  readonly id: string;
  readonly body: object;
}

// Their modules of ES would load undici.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

/** From the connection to the end of the response. */
const TIMEOUT_MS = 10_000;
/** What is read of a response, to use its connection again. */
const MAX_RESPONSE_BYTES = 64 * 1024;

const NOT_ON_INTERNET = 'the address is not on the Internet: mark it as internal if it is yours';

const AGENTS = {
  internet: new RequestFilteringHttpsAgent({ keepAlive: true }),
  internal: new https.Agent({ keepAlive: true }),
  http: new http.Agent({ keepAlive: true }),
};

/**
 * To the Internet a connection checks the very addresses that it uses, since a name may resolve differently the next time. The
 * operator's own network is used as it is, also without TLS.
 */
function connectionTo({ url, isInternal }: Receiver) {
  if (url.startsWith('http:')) return { request: http.request, agent: AGENTS.http };
  return { request: https.request, agent: isInternal ? AGENTS.internal : AGENTS.internet };
}

/**
 * Posts a webhook, signed by the current key and those before it (Standard Webhooks 1.0). Redirects are not followed.
 * @throws {Error} with the reason unless the status is 2xx within {@link TIMEOUT_MS}
 */
export async function deliver(receiver: Receiver, keys: readonly Buffer[], webhook: Webhook): Promise<void> {
  const body = JSON.stringify(webhook.body);
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = `${webhook.id}.${timestamp}.${body}`;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'webhook-id': webhook.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' '),
  };
  const { request, agent } = connectionTo(receiver);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const sent = request(receiver.url, { method: 'POST', headers, signal, agent });
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode > 299) {
      response.destroy();
      throw new Error(`status ${statusCode}`);
    }
    await readShort(response);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${TIMEOUT_MS / 1000} seconds`);
    // The receiver closed an idle connection just when it was used again: no fault of either.
    if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET')
      return deliver(receiver, keys, webhook);
    throw /is not allowed/.test(String(error)) ? new Error(NOT_ON_INTERNET) : error;
  }
}

/** Its content means nothing. */
async function readShort(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_RESPONSE_BYTES) return; // this ends the connection
  }
}

/** A key as the libraries of Standard Webhooks take it. */
export const formatKey = (key: Buffer): string => `whsec_${key.toString('base64')}`;
