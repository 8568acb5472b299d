import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { traitsOf } from './connection.ts';

/** What a connection turned out to be, for `assent doctor`. */
export interface ConnectionFacts {
  readonly pooler: 'none' | 'keeps names' | 'keeps no names';
  /** Whether it goes through a Unix socket or stays on this machine. */
  readonly isLocal: boolean;
  /** What TLS verifies: nothing, the CA, or the CA and the name. */
  readonly tls: 'none' | 'unverified' | 'verified CA' | 'verified';
}

export function inspectConnection(connection: pg.ClientBase): ConnectionFacts {
  const { ownSession, keepsNames } = traitsOf(connection);
  const { ssl, connection: wire } = connection as unknown as { ssl: Ssl; connection: { stream: Socket } };
  const { stream } = wire;
  const tls = stream instanceof TLSSocket ? tlsOf(ssl) : 'none';
  const address = stream.remoteAddress ?? '';
  const isLocal = address === '' || /^(127\.|::1$|::ffff:127\.)/.test(address);
  const pooler = ownSession ? 'none' : keepsNames ? 'keeps names' : 'keeps no names';
  return { pooler, isLocal, tls };
}

type Ssl = boolean | { rejectUnauthorized?: boolean; checkServerIdentity?: unknown };

/** By what is demanded: a good certificate now says nothing about the next connection. */
function tlsOf(ssl: Ssl): ConnectionFacts['tls'] {
  if (typeof ssl === 'boolean') return 'verified';
  if (ssl.rejectUnauthorized === false) return 'unverified';
  return ssl.checkServerIdentity === undefined ? 'verified' : 'verified CA';
}
