import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, start } from '../support/process/process.ts';
import { outcomeOf } from '../support/process/program.ts';
import { openReceivers } from '../support/receivers.ts';
import { useServer } from '../support/server.ts';

// `assent notify` with a thousand receivers, of which most fail.

const HEALTHY = 100;
const FAILING = 900;
const ROUNDS = 8;
/** Authorizations of a healthy application that end in a round; of a failing one it is one. */
const ENDS = 5;

const FAILURES = [
  () => 503,
  (_: unknown, response: ServerResponse) => {
    response.destroy();
    return 0;
  },
  () => sleep(11_000, 200, { ref: false }),
] as const;

const server = await useServer();
const folder = useFolder();
const ports = await Promise.all(FAILURES.map(() => openReceivers(useFolder())));
afterAll(() => {
  for (const port of ports) port.close();
});
const variables = { ...onDatabase(server.database.url), BASE_URL: server.baseUrl };
const { json } = commandsOn(variables);

const imported = (kind: string, rows: readonly object[]) =>
  json(`${kind} import ${fileIn(folder, kind, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))}`);

it('tells a hundred receivers all, while nine hundred others fail, hang up or take too long', {
  timeout: 600_000,
}, async () => {
  const shops = Array.from({ length: HEALTHY + FAILING }, (_, n) => {
    const receiver = ports[n % ports.length];
    if (n >= HEALTHY) receiver?.answer(`/${n}`, FAILURES[n % FAILURES.length] ?? (() => 500));
    return { client_id: `shop-${n}`, uri: receiver?.uriOf(`/${n}`), isHealthy: n < HEALTHY };
  });
  const rows = shops.map(({ client_id, uri: events_uri }) => ({
    ...{ client_id, name: `Shop ${client_id}`, redirect_uri: 'https://shop.example/' },
    ...{ events_uri, events_internal: true },
  }));
  expect(await imported('client', rows)).toMatchObject({ imported: shops.length });
  const users = await Promise.all(Array.from({ length: 50 }, () => server.createUser()));
  const grants = Array.from({ length: ROUNDS }, (_, round) =>
    shops.flatMap(({ client_id, isHealthy }, shop) =>
      Array.from({ length: isHealthy ? ENDS : 1 }, (_, n) => ({
        ...{ login: users[shop % users.length]?.login, client_id, instance_name: `${round}-${n}` },
        ...{ scope: 'account-info', token: randomUUID(), issued_at: new Date().toISOString() },
      })),
    ),
  );
  expect(await imported('grant', grants.flat())).toMatchObject({ imported: grants.flat().length });

  const certificates = ports.map(({ certificate }) => readFileSync(certificate, 'utf8')).join('');
  const NODE_EXTRA_CA_CERTS = fileIn(folder, 'receivers.crt', certificates);
  const notifier = start(['notify'], { ...variables, NODE_EXTRA_CA_CERTS });
  const ended = outcomeOf(notifier);
  onTestFinished(async () => {
    notifier.kill();
    await ended;
  });
  const cursors = async () => (await server.database.pool.query('select from notify_cursors')).rowCount;
  await expect.poll(cursors).toBe(1);

  const healthy = Array.from({ length: HEALTHY }, (_, n) => n);
  const acceptedAt = (n: number) => ports[n % ports.length]?.acceptedAt(`/${n}`) ?? [];
  const told = () => healthy.flatMap(acceptedAt).length;
  for (const [round, ends] of grants.entries()) {
    const revoke = async () => {
      for (let grant = ends.shift(); grant !== undefined; grant = ends.shift()) {
        const headers = { authorization: `Bearer ${grant.token}` };
        const answer = await fetch(`${server.baseUrl}/api/revoke`, { method: 'POST', headers });
        expect([answer.status, await answer.text()]).toEqual([200, '{}']);
      }
    };
    await Promise.all(Array.from({ length: 16 }, revoke));
    await expect.poll(told, { timeout: 300_000, interval: 200 }).toBe((round + 1) * HEALTHY * ENDS);
  }
  const names = Array.from({ length: ROUNDS * ENDS }, (_, n) => `${Math.floor(n / ENDS)}-${n % ENDS}`);
  for (const one of healthy)
    expect(
      acceptedAt(one)
        .map(({ data }) => data.instance_name)
        .sort(),
    ).toEqual(names);
  const failing = `select from notify_cursors where failures > 0`;
  await expect.poll(async () => (await server.database.pool.query(failing)).rowCount).toBe(FAILING);
});
