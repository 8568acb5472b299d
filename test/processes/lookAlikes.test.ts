import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { onDatabase, runAssent } from '../support/process.ts';

const database = await useDatabase();

const create = (name: string, ...more: string[]) =>
  runAssent(
    ['client', 'create', '--name', name, '--redirect-uri', 'https://shop.example/back', '--json', ...more],
    onDatabase(database.url),
  );

describe('assent client create', () => {
  it('refuses the name that the operator gave the service, in every language', async () => {
    const BRAND = join(mkdtempSync(join(tmpdir(), 'assent-names-')), 'brand.json');
    writeFileSync(BRAND, '{"name":{"en":"My Wallet","ru":"Мой кошелёк"}}');
    const named = (name: string) =>
      runAssent(['client', 'create', '--name', name, '--redirect-uri', 'https://shop.example/back'], {
        ...onDatabase(database.url),
        BRAND,
      });
    for (const [name, own] of [
      ['MYWALLET', 'My Wallet'],
      ['Мой кошелек', 'Мой кошелёк'],
      ['Assent', 'Assent'],
    ] as const) {
      expect(await named(name)).toMatchObject({
        code: 1,
        stderr: `the name looks like this service’s own, “${own}”: choose another, or say --force\n`,
      });
    }
    writeFileSync(BRAND, '{}');
    expect((await named('Shop')).stderr).toMatch(/^BRAND .*brand\.json: name must be/);
    rmSync(dirname(BRAND), { recursive: true });
  });

  it('refuses a name that could be taken for another application’s, unless it is forced', async () => {
    expect((await create('Demo Shop')).code).toBe(0);
    for (const [name, problem] of [
      ['DEM0 SHOP', 'looks like that of another application, “Demo Shop”'],
      ['Dеmo', 'mixes letters of several scripts in one word, “Dеmo”'],
      ['Other Shop ✔', 'has ✔, which could be taken for a mark of ours'],
    ] as const) {
      const refused = await create(name);
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toContain(`the name ${problem}: choose another, or say --force`);
      const forced = await create(name, '--force');
      expect([forced.code, JSON.parse(forced.stdout)]).toMatchObject([0, { name }]);
    }
  });

  it('takes the same name twice, and says so: one application may have several registrations', async () => {
    expect(JSON.parse((await create('Web and Phone')).stdout)).not.toHaveProperty('warnings');
    const second = await create('Web and Phone');
    expect([second.code, JSON.parse(second.stdout)]).toMatchObject([
      0,
      { warnings: ['another application has the name “Web and Phone”, too: users can’t tell them apart'] },
    ]);
  });

  it.each([' Shop', 'My  Shop', 'My\u00a0Shop', '\u3164', 'My\u200dShop', 'Shop\u202e'])(
    'takes no name with characters that can’t be seen, forced or not: %j',
    async (name) => {
      const { code, stderr } = await create(name, '--force');
      expect(code).toBe(1);
      expect(stderr).toMatch(/the name has U\+[0-9A-F]{4} at character \d+/);
    },
  );
});

describe('assent client update', () => {
  const update = (id: string, name: string, ...more: string[]) =>
    runAssent(['client', 'update', id, '--name', name, '--json', ...more], onDatabase(database.url));

  it('holds a new name to the same rule, but not against the application itself', async () => {
    expect((await create('Tea House')).code).toBe(0);
    const { client_id } = JSON.parse((await create('Coffee House')).stdout);
    expect((await update(client_id, 'COFFEE HOUSE')).code).toBe(0);
    const refused = await update(client_id, 'TEA H0USE');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr).error).toContain('looks like that of another application, “Tea House”');
    expect((await update(client_id, 'TEA H0USE', '--force')).code).toBe(0);
  });
});
