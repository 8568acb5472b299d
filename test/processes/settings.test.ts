import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { ownDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, ownServer, runAssent } from '../support/process/process.ts';
import { doctor } from './findings.ts';

// What the servers and commands of one database have in common: the currency, the rights and the default limit.

const folder = useFolder();
const BASE_URL = 'http://localhost:3000';
const EUROS = { CURRENCY: 'EUR', DEFAULT_LIMIT: '30,50' };
const RIGHTS = { 'payment-shop': 'Pay any shop', donate: { text: 'Donate', spends: true } };
const CATALOGUE = fileIn(folder, 'catalogue.json', JSON.stringify(RIGHTS));
const fileOf = (row: object) => fileIn(folder, randomUUID(), `${JSON.stringify(row)}\n`);

const begin = (variables: Record<string, string>) => ownServer({ ...variables, LOG_LEVEL: 'info' });

async function startedWith(settings: Record<string, string>) {
  const { url } = await ownDatabase();
  const of = onDatabase(url);
  await (await begin({ ...of, ...settings })).stop();
  return of;
}

it('a start with another currency fails, and says what to do; the first currency still works', async () => {
  const of = await startedWith(EUROS);
  const { code, stderr } = await runAssent(['serve'], { ...of, BASE_URL, CURRENCY: 'RUB' });
  const sentence =
    /^CURRENCY is RUB, but the limits in this database are sums in EUR: set CURRENCY=EUR, or /m;
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
  const again = await begin({ ...of, ...EUROS });
  await again.stop();
  expect(again.output()).not.toContain('changed');
});

it('two servers that start first, with two currencies, do not both serve', async () => {
  const of = onDatabase((await ownDatabase()).url);
  const starts = ['EUR', 'USD'].map((CURRENCY) => begin({ ...of, ...EUROS, CURRENCY }));
  const started = (await Promise.allSettled(starts)).filter(({ status }) => status === 'fulfilled');
  expect(started).toHaveLength(1);
});

it('a start with another catalogue or default limit logs which; the same ones are not news', async () => {
  const of = await startedWith({ CATALOGUE, ...EUROS });
  const again = await begin({ ...of, CATALOGUE, ...EUROS });
  expect(again.output()).not.toContain('changed');
  const other = await begin({ ...of, ...EUROS, DEFAULT_LIMIT: '7,50' });
  expect(other.output()).toMatch(
    /"msg":"(CATALOGUE and DEFAULT_LIMIT|DEFAULT_LIMIT and CATALOGUE) changed: /,
  );
});

it('a start after a build that did not know a setting logs none', async () => {
  const { url } = await ownDatabase();
  const of = onDatabase(url);
  await (await begin(of)).stop();
  const db = new pg.Client(url);
  await db.connect();
  await db.query(`delete from settings where name = 'limits'`);
  await db.end();
  const again = await begin(of);
  await again.stop();
  expect(again.output()).not.toContain('changed');
  const other = await begin({ ...of, LIMITS: 'each' });
  await other.stop();
  expect(other.output()).toContain('"msg":"LIMITS changed: ');
});

it('a command without CURRENCY and DEFAULT_LIMIT shows those of the servers', async () => {
  const { assent } = commandsOn(await startedWith(EUROS));
  const line = 'client create --name Shop --redirect-uri https://shop.example/ --most 30,500';
  expect((await assent(line)).stdout).toMatch(/EUR\s500/);
});

it('doctor names each setting that differs from the servers’', async () => {
  const of = { ...(await startedWith({ CATALOGUE, ...EUROS })), BASE_URL: 'https://pay.invalid' };
  expect((await doctor({ ...of, CATALOGUE, ...EUROS })).troubles).not.toHaveProperty('settings');
  const { findings } = await doctor({ ...of, CURRENCY: 'USD', DEFAULT_LIMIT: '30,50' });
  const texts = findings.flatMap(({ check, text }) => (check === 'settings' ? text.split(' ', 1) : []));
  expect(texts).toEqual(['CURRENCY', 'CATALOGUE']);
});

it('an import and a registration with rights need the catalogue of the servers', async () => {
  const of = await startedWith({ CATALOGUE, ...EUROS });
  const [lacking, whole] = [commandsOn(of), commandsOn({ ...of, CATALOGUE })];
  const shop = { client_id: 'shop', name: 'Shop', redirect_uri: 'https://shop.example/' };
  const file = fileOf({ ...shop, rights: ['donate'] });
  const register = 'client create --name Other --redirect-uri https://other.example/ --right';
  for (const line of [`client import ${file}`, `client import ${file} --dry-run`, `${register} payment-shop`])
    expect(await lacking.refused(line, 1)).toMatch(
      /^CATALOGUE must be as the servers of this database have it/,
    );
  const inDollars = commandsOn({ ...of, CATALOGUE, ...EUROS, CURRENCY: 'USD' });
  expect(await inDollars.refused(`client import ${file}`, 1)).toMatch(/^CURRENCY must be /);
  expect(await whole.json(`client import ${file}`)).toMatchObject({ imported: 1 });
  await whole.json(`${register} donate`);
});

it('commands have the LIMITS of the servers, which must not differ', async () => {
  const of = await startedWith({ LIMITS: 'each,until' });
  const { assent, json } = commandsOn(of);
  const client = { client_id: 'shop', name: 'Shop', redirect_uri: 'https://shop.example/' };
  await json(`user import ${fileOf({ login: 'anna', name: 'Anna' })}`);
  await json(`client import ${fileOf({ ...client, most: '7,2000' })}`);
  const scope = 'payment-shop.limit(7,2000).each(500).until(2027-06-30)';
  const grantOf = (asked: string) =>
    fileOf({ login: 'anna', client_id: 'shop', scope: asked, token: randomUUID(), issued_at: new Date() });
  const grant = grantOf(scope);
  for (const LIMITS of ['each', 'until']) {
    const other = commandsOn({ ...of, LIMITS });
    expect(await other.refused(`grant import ${grant}`, 1)).toMatch(
      /^LIMITS must be as the servers of this database have it/,
    );
  }
  expect(await commandsOn({ ...of, SPENDING: 'on' }).json(`grant import ${grant} --dry-run`)).toMatchObject({
    imported: 1,
  });
  expect(await json(`grant import ${grant}`)).toMatchObject({ imported: 1 });
  for (const [asked, reason] of [
    ['payment-shop.limit(7,2000).each(2001)', 'a payment larger than all of them together'],
    [
      'payment-shop.limit(7,2001).each(500)',
      'payment-shop has 7,2001, and the maximum of the application is 7,2000',
    ],
  ] as const)
    expect(JSON.stringify(await assent(`grant import ${grantOf(asked)} --json`))).toContain(reason);
  const listed = await assent('grant list --login anna --json');
  const grantId = /"grant_id": ?"([^"]+)"/.exec(listed.stdout)?.[1];
  expect(await json(`grant show ${grantId}`)).toMatchObject({ scope });
  const said = 'Pay any shop: at most RUB 2,000 in any 7 days, RUB 500 in one payment, until 30 June 2027';
  expect((await assent(`grant show ${grantId}`)).stdout.replaceAll(/\s+/g, ' ')).toContain(said);
  const { findings } = await doctor({ ...of, BASE_URL: 'https://pay.invalid', LIMITS: 'each' });
  const texts = findings.flatMap(({ check, text }) => (check === 'settings' ? text.split(' ', 1) : []));
  expect(texts).toEqual(['LIMITS']);
});

it('an import before the first start sets the currency; one that is only tried does not', async () => {
  const { url } = await ownDatabase();
  const of = onDatabase(url);
  const file = fileOf({ login: 'anna', name: 'Anna' });
  await commandsOn(of).json(`user import ${file} --dry-run`);
  await commandsOn({ ...of, ...EUROS }).json(`user import ${file}`);
  const { code, stderr } = await runAssent(['serve'], { ...of, BASE_URL });
  expect([code, stderr]).toEqual([1, expect.stringContaining('set CURRENCY=EUR')]);
});
