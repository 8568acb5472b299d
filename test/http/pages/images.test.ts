import { describe, expect, it } from 'vitest';
import { parseLogo } from '../../../src/config/operatorFiles.ts';
import { BUILT_IN_BRAND } from '../../../src/rules/face/brand.ts';
import type { Logo } from '../../../src/rules/face/logo.ts';
import { changeClient } from '../../support/operators.ts';
import { png, svg } from '../../support/pictures.ts';
import { useServer } from '../../support/server.ts';

const brandLogo = parseLogo(svg('<script>alert(1)</script><circle r="9"/>'));
const path = `/oauth/brand/logo-${brandLogo.file}`;
const server = await useServer({ brand: { ...BUILT_IN_BRAND, logo: { ...brandLogo, path } } });
const { pool } = server.database;

/** Of the same database, with an empty cache. */
const fresh = await useServer({ database: server.database });

const get = (address: string, headers: Record<string, string> = {}) =>
  fetch(server.baseUrl + address, { headers, redirect: 'manual' });

const SVG = 'image/svg+xml; charset=utf-8';
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
};

async function expectImage(answer: Response, type: string, body: Buffer): Promise<void> {
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({ ...HEADERS, 'content-type': type });
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
}

async function expectNone(answer: Response): Promise<void> {
  expect([answer.status, await answer.text()]).toEqual([404, '']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

const [drawn, taken] = [parseLogo(svg()), parseLogo(png(64, 64))];
const { clientId } = await server.createClient({ logo: drawn });
const { clientId: other } = await server.createClient({ logo: taken });
const { clientId: none } = await server.createClient();

it('the logo of the service is served unchanged under its hash, with headers that sandbox it [images-1]', async () => {
  await expectImage(await get(path), SVG, brandLogo.body);
});

it('a logo may be loaded as an image, by a script or in a frame, unlike a page', async () => {
  for (const destination of ['image', 'empty', 'object', 'iframe']) {
    const headers = { 'sec-fetch-dest': destination };
    expect((await get(path, headers)).status).toBe(200);
    expect((await get('/oauth/account', headers)).status).toBe(403);
  }
});

it.each([
  `/oauth/brand/logo-${'0'.repeat(32)}.svg`,
  path.replace('.svg', '.png'),
  '/oauth/brand/brand.json',
  '/oauth/brand/__proto__',
  `/oauth/logo/${none}-${drawn.file}`,
  `/oauth/logo/${other}-${drawn.file}`,
  `/oauth/logo/${clientId}-${drawn.file.replace('svg', 'png')}`,
  `/oauth/logo/${clientId}-${'0'.repeat(32)}.svg`,
  `/oauth/logo/${clientId}`,
  '/oauth/logo/%00',
])('a wrong address of a logo gets 404: %s', async (address) => {
  await expectNone(await get(address));
});

describe('the logo of an application', () => {
  const change = (logo: Logo | null) => changeClient(pool, clientId, { logo }, 'tests');

  it('has another URL after a change, and no URL after its removal', async () => {
    const next = parseLogo(svg('<rect width="3" height="4"/>'));
    await change(next);
    await expectImage(await get(`/oauth/logo/${clientId}-${next.file}`), SVG, next.body);
    await change(null);
    for (const { file } of [next, drawn])
      await expectNone(await fetch(`${fresh.baseUrl}/oauth/logo/${clientId}-${file}`));
  });

  it('is read from the database once, and cached until many other logos are requested [images-2]', async () => {
    const { clientId: loved } = await server.createClient({ logo: drawn });
    const address = `/oauth/logo/${loved}-${drawn.file}`;
    await expectImage(await get(address), SVG, drawn.body);
    await expectImage(await get(`/oauth/logo/${other}-${taken.file}`), 'image/png', taken.body);
    await pool.query('delete from client_logos where client_id = $1', [loved]);
    await expectImage(await get(address), SVG, drawn.body);
    // 256 others displace it.
    for (let count = 0; count < 256; count += 1) {
      const other = parseLogo(svg(`<desc>${count}</desc>`));
      const { clientId: another } = await server.createClient({ logo: other });
      await expectImage(await get(`/oauth/logo/${another}-${other.file}`), SVG, other.body);
    }
    await expectNone(await get(address));
  });
});
