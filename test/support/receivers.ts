import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { makeCertificate } from './programs/certificates.ts';

/** A delivery, in the order of arrival. */
export interface Delivery {
  readonly path: string;
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The status that was answered. */
  readonly status: number;
}

type Arrival = Omit<Delivery, 'status'>;

/** @returns the status, with which a request is answered unless it has been; 0 for none */
type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  arrival: Arrival,
) => number | Promise<number>;

/** An HTTPS server that receives webhooks, each path a receiver. @param folder for its certificate, which ends after so many `days` */
export async function openReceivers(folder: string, days?: number) {
  const [key, cert] = makeCertificate(
    folder,
    'receiver',
    'localhost',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
    undefined,
    days,
  );
  const deliveries: Delivery[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer({ key, cert }, async (request, response) => {
    const { url: path = '' } = request;
    const body = await text(request).catch(() => '');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const arrival = { path, id: headers['webhook-id'] ?? '', headers, body };
    const status = await (answers.get(path)?.(request, response, arrival) ?? 204);
    deliveries.push({ ...arrival, status });
    if (status > 0 && !response.headersSent && !response.destroyed) response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    certificate: join(folder, 'receiver.crt'),
    deliveries,
    uriOf: (path: string) => `https://localhost:${port}${path}`,
    /** How a path answers; 204 without. */
    answer: (path: string, how: Answer) => void answers.set(path, how),
    /** What a path has accepted, each event once. */
    acceptedAt(path: string) {
      const accepted = deliveries.filter((one) => one.path === path && one.status < 300);
      return [...new Map(accepted.map((one) => [one.id, JSON.parse(one.body)])).values()];
    },
    /** Presents another certificate from now on; without one, its own again. */
    present([otherKey = key, otherCert = cert]: readonly string[] = []) {
      server.setSecureContext({ key: otherKey, cert: otherCert });
      server.closeAllConnections();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Verifies a delivery as its receiver would. @throws {Error} for a wrong signature */
export function verify({ body, headers }: Pick<Delivery, 'body' | 'headers'>, secret: string): unknown {
  return new Webhook(secret).verify(body, headers);
}
