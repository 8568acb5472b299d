import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { png, svg } from '../support/pictures.ts';
import { onDatabase, type Run, runAssent } from '../support/process.ts';

const database = await useDatabase();
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assent-logo-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const assent = (...args: string[]): Promise<Run> => runAssent(args, onDatabase(database.url), '');

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await assent(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

function write(name: string, body: Buffer): string {
  writeFileSync(join(folder, name), body);
  return join(folder, name);
}

const SHOP = ['--name', 'Shop', '--redirect-uri', 'https://shop.example/callback'];
const nothing = { site: null, logo: null, reviewed: false };

describe('whether users may lower limits', () => {
  it('is set when it is registered or later, shown, listed and in the trail', async () => {
    const { client_id } = await json('client', 'create', ...SHOP, '--user-limits');
    const id = String(client_id);
    const shown = await json('client', 'show', id);
    expect(shown).toMatchObject({ user_limits: true });
    expect(await json('client', 'list')).toContainEqual(shown);
    expect((await assent('client', 'update', id, '--user-limits')).stderr).toBe(
      'there is nothing to change\n',
    );
    const off = await assent('client', 'update', id, '--no-user-limits');
    expect(off.stderr).toBe('changed user_limits\n');
    expect((await assent('client', 'show', id)).stdout).toMatch(/^user_limits +false$/m);
    expect(await json('client', 'update', id, '--user-limits')).toMatchObject({ user_limits: true });
    const { rows } = await database.pool.query(
      `select detail -> 'user_limits' as set from audit_events where client_id = $1 order by at`,
      [id],
    );
    expect(rows.map(({ set }) => set)).toEqual([true, { from: true, to: false }, { from: false, to: true }]);
  });

  it('is no at first', async () => {
    const { client_id } = await json('client', 'create', ...SHOP);
    expect(await json('client', 'show', String(client_id))).toMatchObject({ user_limits: false });
  });
});

describe('what users see of an application', () => {
  it('is set when it is registered, shown and listed', async () => {
    const logo = write('logo.png', png(96, 32));
    const face = ['--site', 'https://shop.example', '--logo', logo, '--reviewed'];
    const { client_id } = await json('client', 'create', ...SHOP, ...face);
    const shown = await json('client', 'show', String(client_id));
    expect(shown).toMatchObject({
      site: 'https://shop.example',
      logo: expect.stringMatching(/^[0-9a-f]{32}\.png$/),
      reviewed: true,
    });
    expect(await json('client', 'list')).toContainEqual(shown);
    const { stdout } = await assent('client', 'show', String(client_id));
    expect(stdout).toMatch(/^site +https:\/\/shop\.example\nlogo +[0-9a-f]{32}\.png\nreviewed +true$/m);
  });

  it('is nothing at first, and changes one by one', async () => {
    const { client_id } = await json('client', 'create', ...SHOP);
    const id = String(client_id);
    const update = (...change: string[]) => json('client', 'update', id, ...change);
    expect(await json('client', 'show', id)).toMatchObject(nothing);
    const { logo } = await update('--logo', write('logo.svg', svg()));
    expect(logo).toMatch(/^[0-9a-f]{32}\.svg$/);
    expect(await update('--site', 'https://shop.example')).toMatchObject({
      site: 'https://shop.example',
      logo,
    });
    expect(await update('--reviewed')).toMatchObject({ reviewed: true, logo });
    const same = await assent('client', 'update', id, '--reviewed', '--logo', join(folder, 'logo.svg'));
    expect(same.stderr).toBe('there is nothing to change\n');
    const other = await assent(
      'client',
      'update',
      id,
      '--logo',
      write('other.svg', svg('<g/>')),
      '--not-reviewed',
    );
    expect(other.stderr).toBe('changed logo, reviewed\n');
    expect(await update('--no-logo', '--site', 'none')).toMatchObject(nothing);
    const { rows } = await database.pool.query(
      `select detail from audit_events where client_id = $1 and kind = 'client_updated' order by at`,
      [id],
    );
    expect(rows.map(({ detail }) => Object.keys(detail).toSorted())).toEqual([
      ['logo'],
      ['site'],
      ['reviewed'],
      ['logo', 'reviewed'],
      ['logo', 'site'],
    ]);
  });

  it.each([
    [
      ['--site', 'http://shop.example'],
      1,
      'the site must be https://, a host and at most 500 visible ASCII characters',
    ],
    [['--logo', '/nowhere.svg'], 1, "the logo /nowhere.svg can't be read: ENOENT"],
    [['--reviewed', '--not-reviewed'], 2, /cannot be used with option/],
    [[], 2, /^say what to change: --name, .*--no-logo/],
  ])('is refused: %j', async (change, code, error) => {
    const { client_id } = await json('client', 'create', ...SHOP);
    const run = await assent('client', 'update', String(client_id), ...change, '--json');
    expect(run).toMatchObject({ code, stdout: '' });
    expect(JSON.parse(run.stderr).error).toEqual(
      typeof error === 'string' ? error : expect.stringMatching(error),
    );
    expect(await json('client', 'show', String(client_id))).toMatchObject(nothing);
  });

  it('is refused a logo that acts, in one line that names the file and the reason', async () => {
    const logo = write('active.svg', svg('<g onload="alert(1)"/>'));
    const run = await assent('client', 'create', ...SHOP, '--logo', logo);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toBe(
      `the logo ${logo} has the attribute onload of <g>, which a logo must not have: save it as plain SVG\n`,
    );
  });
});
