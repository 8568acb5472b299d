import { introspect } from './flow.ts';
import type { TestClient, TestServer } from './server.ts';

export async function isLive(server: TestServer, resource: string, token: string): Promise<boolean> {
  return (await introspect(server, resource, token)).active === true;
}

export async function expireCode(server: TestServer, client: TestClient): Promise<void> {
  await server.database.pool.query(
    `update grants set code_expires_at = clock_timestamp() - interval '1 second' where client_id = $1`,
    [client.clientId],
  );
}

export async function setClientStatus(server: TestServer, client: TestClient, status: string): Promise<void> {
  await server.database.pool.query('update clients set status = $2 where client_id = $1', [
    client.clientId,
    status,
  ]);
}

export async function setUserStatus(server: TestServer, login: string, status: string): Promise<void> {
  await server.database.pool.query('update users set status = $2 where login = $1', [login, status]);
}
