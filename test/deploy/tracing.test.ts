import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { obtainCode, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { expectToken } from '../support/http/tokenRequests.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { type Collector, openCollector, type Span } from '../support/programs/collector.ts';
import { createClient, createResource, createUser } from '../support/registrations.ts';

// The packages are not dependencies of Assent: `npm ci --prefix deploy/tracing` installs them.
const FOLDER = new URL('../../deploy/tracing/', import.meta.url);
const isInstalled = existsSync(new URL('node_modules/@opentelemetry/api', FOLDER));
const found = isInstalled ? '' : ' (deploy/tracing is not installed: skipped)';

const PAYS = {
  scope: 'payment.to-account("410011161616877").limit(30,200)',
  state: 'state-of-the-application',
};
const USER = { login: 'anna', password: newSecret(), paymentPassword: newSecret() };

const database = await useDatabase();
let collector: Collector;
let server: ServerProcess;

const attribute = (span: Span, key: string) =>
  span.attributes.find((one) => one.key === key)?.value.stringValue;
const withRoute = (route: string) =>
  collector
    .spans()
    .filter((span) => attribute(span, 'http.route') === route && span.parentSpanId === undefined);

/** A whole flow, with every secret also in a wrong place. */
async function flow(): Promise<void> {
  const { pool } = database;
  const client = await createClient(pool);
  const user = await createUser(pool, USER);
  const authorization = await createResource(pool);
  const agent = new Agent(server.baseUrl);
  const code = await obtainCode(agent, requestOf(client, PAYS), user);
  const fields = tokenRequestOf(client, code);
  await agent.post(`/oauth/token?${new URLSearchParams(fields)}`, {});
  const token = expectToken(await agent.post('/oauth/token', fields));
  const { login, password } = user;
  await agent.post('/oauth/introspect', { token }, { authorization });
  await agent.get(`/oauth/account?token=${token}&code=${code}`);
  await agent.get(`/${token}/${password}`);
  await agent.get('/oauth/account', { 'user-agent': `curl ${token}`, 'x-token': token });
  await agent.post('/oauth/sign-in', { login, password, form_token: token });
  await agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
}

describe.skipIf(!isInstalled)(`OpenTelemetry${found}`, () => {
  beforeAll(async () => {
    collector = await openCollector();
    server = await spawnServer({
      ...onDatabase(database.url),
      NODE_OPTIONS: `--import=${fileURLToPath(new URL('tracing.mjs', FOLDER))}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'assent',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    await flow();
    await vi.waitUntil(() => withRoute('/api/revoke').length > 0, { timeout: 60_000 });
  });

  afterAll(async () => {
    await server.stop();
    collector.close();
  });

  it('traces a whole flow: requests by route, with their SQL statements', () => {
    const pages = ['authorize', 'sign-in', 'consent', 'confirm', 'receipt', 'return'];
    for (const name of [...pages, 'token', 'introspect'])
      expect(withRoute(`/oauth/${name}`), name).not.toEqual([]);
    const exchanges = withRoute('/oauth/token').map(({ traceId }) => traceId);
    const statements = collector
      .spans()
      .filter(({ traceId, name }) => exchanges.includes(traceId) && /pg/.test(name));
    const texts = statements.map((span) => attribute(span, 'db.query.text') ?? '');
    expect(texts.some((text) => text.includes('update grants g set token_hash'))).toBe(true);
  });

  it('traces no secret, wherever it was sent [tracing-1]', () => {
    const typed = ['password', 'payment password', 'client secret', 'resource secret'];
    const issued = ['access token', 'code', 'form token', 'session cookie'];
    expect(ledger.kinds()).toEqual(expect.arrayContaining([...typed, ...issued]));
    const lines = collector.sent.flatMap((body) => body.split('},{'));
    expect(ledger.search('the spans', lines)).toEqual([]);
    for (const secret of [PAYS.state, 'authorization:', 'exception'])
      expect(collector.sent.join('\n')).not.toContain(secret);
  });

  it('traces no health checks and scrapes', async () => {
    await fetch(`${server.baseUrl}/metrics`);
    expect([...withRoute('/metrics'), ...withRoute('/health/ready')]).toEqual([]);
  });
});
