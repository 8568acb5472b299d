import { createServer } from 'node:http';
import type axe from 'axe-core';
import { source } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openProvider } from '../../src/flows/common/provider.ts';
import { overflowing, smallTargets } from '../pages/measures.ts';
import { openAdmin, useAdmin } from '../support/admin.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { listen } from '../support/process/program.ts';
import { useBrowser } from '../support/programs/browsing.ts';
import { useServer } from '../support/server.ts';
import { openWallet } from '../support/wallet.ts';

// The pages for operators in a browser.

const admin = await useAdmin();
const server = await useServer({ database: admin.database });
const browser = useBrowser();
const url = admin.url.replace('127.0.0.1', 'localhost');

const client = await server.createClient({ name: 'Green Mountain' });
const anna = await server.createUser({ login: 'anna@example.com', name: 'Anna Petrova' });
const boris = await server.createUser({
  login: 'boris-with-a-long-login@mail.example.com',
  name: 'Boris Petrov',
});
for (const user of [anna, boris]) {
  const scope = 'account-info payment-shop.limit(7,5000) money-source("card")';
  await obtainToken(new Agent(server.baseUrl), client, user, { scope, instance_name: 'Kitchen' });
}

async function enter(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.open(options);
  await page.goto(`${url}/support`);
  await page.locator('[name=token]').fill(await admin.tokenFor('destroys', 2));
  await page.keyboard.press('Enter');
  await onPage(page, 'search');
  return page;
}

const onPage = (page: Page, name: string) => page.locator(`main[data-page="support-${name}"]`).waitFor();

it('a phone call takes the keyboard only', async () => {
  const page = await enter({ viewport: { width: 390, height: 844 } });
  const pressTo = async (name: RegExp) => {
    for (let steps = 0; steps < 60; steps += 1) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
      if (name.test(focused)) return page.keyboard.press('Enter');
    }
    throw new Error(`no key leads to ${name}`);
  };
  await page.locator('[name=q]').focus();
  await page.keyboard.type('petrov');
  await page.keyboard.press('Enter');
  await page.locator('table').waitFor();
  await pressTo(/^anna@example\.com$/);
  await onPage(page, 'thing');
  await pressTo(/^Disconnect…$/);
  await onPage(page, 'act');
  await page.locator('[name=note]').focus();
  await page.keyboard.type('called us');
  await pressTo(/^Disconnect$/);
  await onPage(page, 'thing');
  expect(await page.locator('[role=status]').innerText()).toBe('Done: Disconnect.');
});

it('a link from another site leads to its page, as the operator is signed in', async () => {
  const crm = createServer((_request, answer) => {
    answer
      .setHeader('content-type', 'text/html')
      .end(`<a href="${url}/support/users/${anna.userId}">Anna</a>`);
  });
  const port = await listen(crm);
  onTestFinished(async () => void crm.close());
  const page = await enter();
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.locator('a').click();
  await onPage(page, 'thing');
  expect(page.url()).toBe(`${url}/support/users/${anna.userId}`);
});

it('an operator signs in at a provider on another site', async () => {
  const wallet = await openWallet();
  onTestFinished(() => wallet.down());
  wallet.user = { sub: '1', preferred_username: 'maria', groups: ['desk'] };
  const roles = { claim: 'groups', byValue: new Map([['desk', 'supports' as const]]) };
  const at = await openAdmin(admin.database.pool, [], onTestFinished, new Map(), {
    provider: openProvider(wallet.settings), // at localhost, and these pages at 127.0.0.1
    roles,
  });
  const page = await browser.open();
  await page.goto(`${at}/support/users/${anna.userId}`);
  await page.locator('a[href*="/sign-in/provider"]').click();
  await onPage(page, 'thing');
  expect(page.url()).toBe(`${at}/support/users/${anna.userId}`);
  expect(await page.locator('header').innerText()).toContain('maria, with the role supports');
});

describe.each([
  ['English, light, desktop', { viewport: { width: 1280, height: 800 } }],
  ['Russian, dark, 320 px', { viewport: { width: 320, height: 640 }, locale: 'ru-RU', colorScheme: 'dark' }],
] as const)('every page in %s', (_name, options) => {
  it('has no fault that axe or the eye finds', async () => {
    const page = await enter(options);
    const grant = await admin.database.pool.query<{ id: string }>(
      'select grant_id as id from grants where user_id = $1',
      [boris.userId],
    );
    const paths = [
      ...[
        '',
        '?q=petrov',
        '?q=missing',
        'users',
        'clients',
        'operators',
        'audit',
        'grants',
        'resources',
        'missing',
      ],
      ...[`users/${boris.userId}`, `clients/${client.clientId}`, `grants/${grant.rows[0]?.id}`],
      ...[
        'do/clients.create',
        'do/users.set-password?login=anna%40example.com',
        `do/users.delete?login=${boris.userId}`,
      ],
    ];
    const problems: string[] = [];
    const look = async (path: string) => {
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      const found = [
        ...(await page.evaluate(overflowing)),
        ...(await page.evaluate(smallTargets)),
        ...(await axeOf(page)),
      ];
      problems.push(...found.map((problem) => `${path}: ${problem}`));
    };
    for (const path of paths) {
      await page.goto(`${url}/support${/^[?]|^$/.test(path) ? path : `/${path}`}`);
      await look(path);
    }
    await page.goto(`${url}/support/do/users.delete?login=${boris.userId}`);
    await page.locator('button:not(.link)').click();
    await page.locator('[role=alert]').waitFor();
    await look('asked once more');
    await browser.context.clearCookies();
    await page.goto(`${url}/support`);
    await look('sign-in');
    expect(problems).toEqual([]);
  });
});

async function axeOf(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}: ${failureSummary}`),
  );
}
