import { describe, expect, it } from 'vitest';
import { useServer } from '../../support/server.ts';

const behindOne = await useServer({ trustProxy: 1 });
const behindNetworks = await useServer({ trustProxy: ['127.0.0.0/8', '::1/128', '10.0.0.0/8', 'fd00::/8'] });
const direct = await useServer();
type Server = typeof direct;

async function addressOf(server: Server, forwarded: string): Promise<string> {
  const headers = { 'x-forwarded-for': forwarded };
  const answer = await fetch(`${server.baseUrl}/health/live`, { headers });
  const ref = answer.headers.get('x-request-id') ?? '';
  const line = server.logLines.findLast((each) => each.includes(ref)) ?? '{}';
  return (JSON.parse(line) as { address: string }).address;
}

// Comes before the tests that send invalid addresses: a server warns once.
it('X-Forwarded-For causes one warning if it is ignored or dropped; a used one, and a health check, cause none', async () => {
  const warnings = (server: Server) =>
    server.logLines.filter((line) => /X-Forwarded-For is (ignored|missing)/.test(line));
  for (let n = 0; n < 5; n += 1) await addressOf(direct, `203.0.113.${n}`);
  expect(warnings(direct)).toEqual([expect.stringMatching(/"level":40.*TRUST_PROXY does not name/)]);
  for (let n = 0; n < 5; n += 1) await addressOf(behindOne, 'unknown');
  expect(warnings(behindOne)).toEqual([expect.stringMatching(/"level":40.*it has no address/)]);
  for (const used of ['127.0.0.1', '203.0.113.7:1']) await addressOf(behindNetworks, used);
  await fetch(`${behindNetworks.baseUrl}/health/live`);
  expect(warnings(behindNetworks)).toEqual([]);
  for (let n = 0; n < 5; n += 1) await fetch(`${behindNetworks.baseUrl}/oauth/authorize`);
  expect(warnings(behindNetworks)).toEqual([expect.stringMatching(/"level":40.*is missing/)]);
  const noted = `select rule from refusals where reference = 'x-forwarded-for'`;
  const rules = async () => (await direct.database.pool.query(noted)).rows;
  await expect.poll(rules).toEqual([{ rule: expect.stringContaining('TRUST_PROXY does not name') }]);
});

const SPELLINGS = [
  ['203.0.113.7:4711', '203.0.113.7'],
  ['"203.0.113.7:4711"', '203.0.113.7'],
  ['203.0.113.7', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['"[2001:DB8::1]:443"', '2001:DB8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
  ['198.51.100.1:1, 203.0.113.7:4711', '203.0.113.7'],
];

const NO_ADDRESSES = [
  ...['unknown', '_hidden', '203.0.113.7:', '203.0.113:80', '[]', '[203', 'a[2001:db8::1]', '1:2'],
  '999.0.113.7:1',
];

describe.each([
  ['a number', behindOne],
  ['networks', behindNetworks],
])('X-Forwarded-For with TRUST_PROXY as %s', (_how, server) => {
  it.each(SPELLINGS)('is read also with a port, in brackets or in quotes: %s', async (sent, address) => {
    expect(await addressOf(server, sent)).toBe(address);
  });

  it.each(NO_ADDRESSES)('gives no address if its last entry is invalid: %s', async (sent) => {
    expect(await addressOf(server, `203.0.113.9, ${sent}`)).toBe('unknown');
  });
});

it('X-Forwarded-For gives the last address that is not a trusted proxy’s', async () => {
  expect(await addressOf(behindNetworks, '203.0.113.7:1, 10.0.0.1:2, [fd00::1]:3')).toBe('203.0.113.7');
  expect(await addressOf(behindNetworks, '10.0.0.9, 203.0.113.7:1, 10.0.0.1:2')).toBe('203.0.113.7');
  expect(await addressOf(behindNetworks, '10.0.0.9, junk, 10.0.0.1:2')).toBe('unknown');
});
