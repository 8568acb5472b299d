import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_RIGHTS } from '../../src/rules/scope/rights.ts';
import { BANK, BANK_FILE } from '../rules/ownRightFiles.ts';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn } from '../support/process/folder.ts';
import { useImports } from './imports.ts';

// Commands read `CATALOGUE` and `DEFAULT_LIMIT` as the server does.

const { server, folder, variables, resource, fileOf } = await useImports({
  offer: { catalogue: BANK },
});
const withCatalogue = { ...variables, CATALOGUE: fileIn(folder, 'catalogue', BANK_FILE) };
const bank = commandsOn(withCatalogue);
const plain = commandsOn(variables);

const CREATE = 'client create --name Shop --redirect-uri https://shop.example/back';
const KNOWN = [...BUILT_IN_RIGHTS.keys()].join(', ');

describe('client create --right', () => {
  it('accepts a right of the catalogue, and a built-in one that the catalogue lacks', async () => {
    const created = await bank.json<Record<string, unknown>>(`${CREATE} --right transfer,payment-shop`);
    expect(created.allowed_rights).toEqual(['transfer', 'payment-shop']);
    expect(await plain.json(`client show ${created.client_id}`)).toMatchObject({
      allowed_rights: ['transfer', 'payment-shop'],
    });
  });

  it('refuses rights that the catalogue lacks, and says that commands need CATALOGUE', async () => {
    const own = 'statements:read, transfer, transfer.to';
    expect(await bank.refused(`${CREATE} --right points:read`, 1)).toContain(
      `points:read is not a right; there are: ${KNOWN}, ${own}. Others are in the file of CATALOGUE`,
    );
    expect(await plain.refused(`${CREATE} --right transfer`, 1)).toContain(
      `transfer is not a right; there are: ${KNOWN}. Others are in the file of CATALOGUE, which commands need too`,
    );
  });
});

const row = { name: 'Old Shop', redirect_uri: 'https://old.example/back' };

it('client import accepts rights of the catalogue and built-in ones, and refuses others by name', async () => {
  const file = fileOf([
    { ...row, client_id: randomUUID(), rights: ['transfer', 'statements:read', 'payment-shop'] },
    { ...row, client_id: randomUUID(), rights: ['transfer', 'points:read'] },
    { ...row, client_id: randomUUID(), rights: ['a.limit'] },
  ]);
  const reasons = async ({ assent }: typeof bank) => {
    const { stdout } = await assent(`client import ${file} --dry-run --json`);
    const { bad_lines } = JSON.parse(stdout) as { bad_lines: { line: number; reason: string }[] };
    return bad_lines.map(({ line, reason }) => `${line} ${reason}`);
  };
  const unknown = (right: string) => `${right} is neither built in nor in the file of CATALOGUE`;
  const misnamed = '3 is not the name of a right';
  expect(await reasons(bank)).toEqual([`2 ${unknown('points:read')}`, misnamed]);
  expect(await reasons(plain)).toEqual([`1 ${unknown('transfer')}`, `2 ${unknown('transfer')}`, misnamed]);
});

it('grant import adds the default account type but no limit, and reports rights that the catalogue lacks', async () => {
  const { json } = commandsOn({ ...withCatalogue, DEFAULT_LIMIT: '7,50' });
  const [client, user] = [await server.createClient(), await server.createUser()];
  const named = { login: user.login, client_id: client.clientId, issued_at: '2026-01-01T00:00:00Z' };
  const token = randomUUID();
  const scope = 'transfer.to("41001").limit(7,9) payment-shop read:user';
  const file = fileOf([{ ...named, token, scope }]);
  expect(await json(`grant import ${file}`)).toMatchObject({
    ...{ imported: 1, bad: 0 },
    warnings: ['these rights are neither built in nor in the file of CATALOGUE: read:user'],
  });
  expect(await json(`grant import ${file}`)).toMatchObject({ unchanged: 1, bad: 0 });
  expect(await introspect(server, resource, token)).toMatchObject({
    scope: 'transfer.to("41001","account").limit(7,9) payment-shop read:user',
    payment_limits: [{ amount: '9' }, { amount: '3000' }],
  });
});

const saidBy = async ({ assent }: typeof bank, line: string) => {
  const { code, stdout } = await assent(line);
  expect(code).toBe(0);
  return stdout.replaceAll('\u00a0', ' ');
};

it('grant list and audit print the text of a right, or its name in quotes if CATALOGUE is not set', async () => {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const agent = new Agent(server.baseUrl);
  await obtainToken(agent, client, user, { scope: 'transfer.to("41001") statements:read' });
  for (const line of [`grant list --login ${user.login}`, `audit --login ${user.login}`]) {
    const said = await saidBy(bank, line);
    expect(said).toContain('Transfer money to “41001”: at most RUB 3,000 in any 24 hours');
    expect(said).toContain('See the statements of your accounts');
    const unnamed = await saidBy(plain, line);
    expect(unnamed).toContain('“transfer.to” “41001”: at most RUB 3,000 in any 24 hours');
    expect(unnamed).toContain('“statements:read”');
  }
});

it('grant list prints the text of another language where a right has none in English', async () => {
  const [client, user] = [await server.createClient(), await server.createUser()];
  await obtainToken(new Agent(server.baseUrl), client, user, { scope: 'statements:read' });
  const inFrench = JSON.stringify({ 'statements:read': { text: { fr: 'Voir vos relevés' } } });
  const french = commandsOn({ ...variables, CATALOGUE: fileIn(folder, 'french', inFrench) });
  expect(await saidBy(french, `grant list --login ${user.login}`)).toMatch(/rights +Voir vos relevés$/m);
});
