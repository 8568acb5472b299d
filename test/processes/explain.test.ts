import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { requestOf, tokenRequestOf } from '../support/flow.ts';
import { onDatabase, type Run, runAssent } from '../support/process.ts';
import { converse } from '../support/rawHttp.ts';
import { useServer } from '../support/server.ts';

const server = await useServer({ trustProxy: 1 });
let networks = 0;

const client = await server.createClient();

/** Somebody in a network of their own. */
function stranger(): Agent {
  networks += 1;
  return new Agent(server.baseUrl, { 'x-forwarded-for': `198.51.100.${networks}` });
}

function explain(reference: string, ...options: string[]): Promise<Run> {
  return runAssent(['explain', reference, ...options], onDatabase(server.database.url));
}

interface Kept {
  readonly reference: string;
  readonly rule: string;
}

async function kept(): Promise<Kept[]> {
  return (await server.database.pool.query<Kept>('select * from refusals order by slot')).rows;
}

const referenceOf = ({ headers }: Answer) => headers.get('x-request-id') ?? '';

/** Waits until the refusal of this answer is kept. */
async function keptRuleOf(answer: Answer): Promise<string> {
  const reference = referenceOf(answer);
  await expect.poll(async () => (await kept()).some((each) => each.reference === reference)).toBe(true);
  return (await kept()).find((each) => each.reference === reference)?.rule ?? '';
}

describe('assent explain', () => {
  it('says for the reference on an error page which rule was broken, and what to do', async () => {
    const link = new URLSearchParams(
      requestOf(client, { redirect_uri: 'http://127.0.0.1:9/callbacl', state: 'private' }),
    );
    const page = await stranger().get(`/oauth/authorize?${link}`);
    const reference = /Reference\s*([0-9a-f]{10})/.exec(page.text)?.[1] ?? '';
    await keptRuleOf(page);
    const { code, stdout, stderr } = await explain(reference.toUpperCase());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('redirect_uri differs from the registered one at character 27');
    expect(stdout).toContain('assent client update ID --redirect-uri');
    const run = await explain(reference, '--json');
    expect(JSON.parse(run.stdout)).toEqual({
      reference,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      method: 'GET',
      path: '/oauth/authorize',
      status: 400,
      error: 'invalid_request',
      rule: 'redirect_uri differs from the registered one at character 27',
      remedy: expect.stringContaining('assent client show ID'),
    });
  });

  it('knows refusals of every kind, also of what is no HTTP', async () => {
    const agent = stranger();
    expect(await keptRuleOf(await agent.post('/oauth/token', tokenRequestOf(client, 'x')))).toContain(
      'code never issued',
    );
    expect(await keptRuleOf(await agent.get('/no/such/page'))).toContain('nothing at this address');
    expect(await keptRuleOf(await agent.get('/%ff'))).toContain('can’t be read');
    const introspection = await agent.post(
      '/oauth/introspect',
      { token: 'x' },
      { authorization: 'Basic eDp4' },
    );
    expect(await keptRuleOf(introspection)).toContain('wrong resource secret');
    expect(await keptRuleOf(await agent.get('/account', { 'sec-fetch-dest': 'iframe' }))).toContain(
      'as a part of another page',
    );
    const { answers } = await converse(server.baseUrl, 'no http at all\r\n\r\n');
    const reference = answers[0]?.headers.get('x-request-id')?.[0];
    await expect
      .poll(async () => (await kept()).find((each) => each.reference === reference)?.rule)
      .toContain('unreadable HTTP');
  });

  it('says that it knows nothing of another reference', async () => {
    const { code, stdout, stderr } = await explain('0000000000');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('no refusal is kept under 0000000000');
  });

  it('forgets after a week', async () => {
    const page = await stranger().get('/oauth/authorize');
    await keptRuleOf(page);
    await server.database.pool.query(`update refusals set at = at - interval '7 days' where reference = $1`, [
      referenceOf(page),
    ]);
    expect((await explain(referenceOf(page))).code).toBe(1);
  });
});

describe('what is kept for it', () => {
  it('tells nothing of what was sent, and not by whom', async () => {
    const agent = stranger();
    const typed = {
      client_id: client.clientId,
      state: 'a-state',
      scope: 'payment-shop("typed")',
      redirect_uri: client.redirectUri,
    };
    await agent.get(`/oauth/authorize?${new URLSearchParams({ ...typed, response_type: 'code' })}`);
    await keptRuleOf(await agent.post('/oauth/token', tokenRequestOf(client, 'the-code-that-was-sent')));
    const text = JSON.stringify(await kept());
    for (const sent of [
      'a-state',
      'typed',
      'the-code',
      client.clientId,
      client.clientSecret,
      '198.51',
      '127.0.0.1',
    ])
      expect(text).not.toContain(sent);
  });

  it('takes the place of the oldest when every slot is taken', async () => {
    const { pool } = server.database;
    await pool.query(`select setval(pg_get_serial_sequence('refusals', 'slot'), 100000)`);
    await pool.query(`
      insert into refusals overriding system value
      select n, clock_timestamp(), n::text, 'GET', '/', 400, 'x', 'x' from generate_series(1, 100000) n on conflict do nothing`);
    const page = await stranger().get('/oauth/authorize');
    await keptRuleOf(page);
    const { rows } = await pool.query('select count(*)::int as count, max(slot) as last from refusals');
    expect(rows).toEqual([{ count: 100_000, last: 100_000 }]);
  });
});
