import { describe, expect, it } from 'vitest';
import { read } from '../../docs/checkout.ts';
import { linkTo, requestOf } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const client = await server.createClient();

const script = read('views/form.js');

const get = (path: string) => fetch(server.baseUrl + path, { headers: { 'sec-fetch-dest': 'script' } });

/** Expects a file that is cached forever, and used by Assent’s pages only. @returns its text */
async function expectAsset(path: string, type: string): Promise<string> {
  const answer = await get(path);
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(answer.headers.get('set-cookie')).toBeNull();
  return answer.text();
}

describe('the script of password pages', async () => {
  const page = await new Agent(server.baseUrl).get(linkTo(requestOf(client)));
  const path = /<script type="module" src="([^"]+)"><\/script>/.exec(page.body)?.[1] ?? '';

  it('is served under its hash, cached forever, to Assent’s pages only', async () => {
    expect(path).toMatch(/^\/oauth\/form-[0-9a-f]{32}\.js$/);
    expect(await expectAsset(path, 'text/javascript')).toBe(script);
  });

  it('is not served under another hash or by another method', async () => {
    const other = await get(`/oauth/form-${'0'.repeat(32)}.js`);
    expect([other.status, other.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect((await fetch(server.baseUrl + path, { method: 'POST' })).status).toBe(405);
  });

  it('inserts no text as markup or code, and sends no requests', () => {
    expect(script).not.toMatch(
      /innerHTML|outerHTML|insertAdjacent|eval|Function\(|fetch|XMLHttp|import|Storage|cookie/,
    );
  });
});

describe('the style sheet', async () => {
  const { body, headers } = await new Agent(server.baseUrl).get('/nothing');
  const path = /<link rel="stylesheet" href="([^"]+)">/.exec(body)?.[1] ?? '';

  it('is the only allowed style, and is cached forever under its hash', async () => {
    expect(path).toMatch(/^\/oauth\/style-[0-9a-f]{32}\.css$/);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(body).not.toMatch(/<style|style=/);
    expect(await expectAsset(path, 'text/css')).toContain(':root {');
  });

  it('is served but not cached under the hash of another replica during an upgrade', async () => {
    const [own, other] = await Promise.all([get(path), get(`/oauth/style-${'0'.repeat(32)}.css`)]);
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await other.text()).toBe(await own.text());
    expect((await get('/oauth/style-other.css')).status).toBe(404);
  });
});
