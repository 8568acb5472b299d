import { createHmac } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type LookupFunction } from 'node:net';

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

// Addresses that a name from outside may not lead to: those that don't belong to one host of the Internet (RFC 6890). The rest of
// IPv6 has not been assigned to hosts.
const NOT_PUBLIC_IPV4 = blockListOf(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
);
const NOT_PUBLIC_IPV6 = blockListOf('2001::/23 2001:db8::/32 2002::/16 3fff::/20');
const ASSIGNED_IPV6 = blockListOf('2000::/3');

function blockListOf(...lines: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [network = '', bits] of lines
    .join(' ')
    .split(' ')
    .map((one) => one.split('/')))
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

function isPublic(address: string): boolean {
  return isIP(address) === 6
    ? ASSIGNED_IPV6.check(address, 'ipv6') && !NOT_PUBLIC_IPV6.check(address, 'ipv6')
    : !NOT_PUBLIC_IPV4.check(address);
}

const REFUSED = 'the address is not on the Internet: mark it as internal if it is yours';

function requirePublic(addresses: readonly string[]): void {
  if (!addresses.every(isPublic)) throw new Error(REFUSED);
}

/** Checks the very addresses that the connection then uses: the name may resolve differently the next time. */
const lookupPublic: LookupFunction = (hostname, options, done) => {
  const found = lookup(hostname, { ...options, all: true }).then((addresses: LookupAddress[]) => {
    requirePublic(addresses.map(({ address }) => address));
    return addresses;
  });
  found.then(
    (addresses) =>
      options.all ? done(null, addresses) : done(null, addresses[0]?.address ?? '', addresses[0]?.family),
    (error) => done(error, ''),
  );
};

const agents = {
  'https:': new https.Agent({ keepAlive: true }),
  'http:': new http.Agent({ keepAlive: true }),
};

/**
 * Posts a webhook, signed by the current key and those before it (Standard Webhooks 1.0). Redirects are not followed.
 * @throws {Error} with the reason unless the status is 2xx within {@link TIMEOUT_MS}
 */
export async function deliver(receiver: Receiver, keys: readonly Buffer[], webhook: Webhook): Promise<void> {
  const url = new URL(receiver.url);
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
  const { hostname, protocol } = url;
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!receiver.isInternal && isIP(host)) requirePublic([host]);
  const { request } = protocol === 'https:' ? https : http;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const sent = request(url, {
    ...{ method: 'POST', headers, signal, agent: agents[protocol as keyof typeof agents] },
    ...(receiver.isInternal ? {} : { lookup: lookupPublic }),
  });
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
    throw signal.aborted ? new Error(`no answer within ${TIMEOUT_MS / 1000} seconds`) : error;
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
