import { request } from 'node:http';
import { createServer } from 'node:https';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ownDatabase, useDatabase } from '../support/postgres/database.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, ownServer, runAssent, spawnServer } from '../support/process/process.ts';
import { listen } from '../support/process/program.ts';
import { makeCertificate, makeEndedCertificate } from '../support/programs/certificates.ts';
import { doctor } from './findings.ts';

// `assent doctor` at BASE_URL, through a proxy with TLS that may do its duties badly.

const folder = useFolder();
const database = await useDatabase();

/** @param days until its end, 0 for one that has ended */
const certificateFor = (host: string, days: number) => {
  const names = `subjectAltName=DNS:${host},IP:::1`;
  const [key, cert] =
    days === 0
      ? makeEndedCertificate(folder, 'proxy')
      : makeCertificate(folder, 'proxy', host, names, undefined, days);
  return { key, cert };
};

interface Duties {
  readonly isOpen: boolean;
  /** What the proxy does with a stranger's `X-Forwarded-For`. */
  readonly forwarding: 'replaces' | 'passes on' | 'drops';
}
const DONE: Duties = { isOpen: false, forwarding: 'replaces' };
let duties = DONE;

const proxy = createServer(certificateFor('localhost', 90), (asked, answer) => {
  const { url: path = '', method, headers } = asked;
  if (!duties.isOpen && /^\/(metrics|health)/.test(path)) return void answer.writeHead(404).end();
  const sent = { ...headers };
  if (duties.forwarding === 'replaces') sent['x-forwarded-for'] = asked.socket.remoteAddress;
  if (duties.forwarding === 'drops') delete sent['x-forwarded-for'];
  request({ port: server.port, path, method, headers: sent, agent: false }, (received) => {
    answer.writeHead(received.statusCode ?? 500, received.headers);
    received.pipe(answer);
  }).end();
});
afterAll(() => void proxy.close());
const BASE_URL = `https://localhost:${await listen(proxy)}`;

const behindProxy: Record<string, string> = {
  ...onDatabase(database.url),
  BASE_URL,
  TRUST_PROXY: '127.0.0.1',
};
const running = await spawnServer(behindProxy);
const server = new URL(running.baseUrl);
afterAll(async () => void (await running.stop()));
afterEach(() => {
  duties = DONE;
  proxy.setSecureContext(certificateFor('localhost', 90));
});

/** @returns the findings without those of the tests' PostgreSQL */
async function examine(variables = behindProxy) {
  const { found, troubles } = await doctor({ ...variables, NODE_EXTRA_CA_CERTS: `${folder}/proxy.crt` });
  const { role: _role, durability: _durability, ...others } = troubles;
  return { found, troubles: others };
}

describe('assent doctor at BASE_URL', () => {
  it('finds nothing wrong with a proxy that does its duties', async () => {
    const { found, troubles } = await examine();
    expect(troubles).toEqual({});
    expect(found.certificate?.text).toMatch(/ends in (89|90) days$/);
    expect([found.metrics?.level, found.readiness?.level]).toEqual(['ok', 'ok']);
  });

  it('checks the certificate of an address', async () => {
    let issuer = '';
    const onAddress = createServer(certificateFor('localhost', 90), (_asked, answer) =>
      answer.end(JSON.stringify({ issuer })),
    );
    issuer = `https://[::1]:${await listen(onAddress, '::1')}`;
    const { found } = await examine({ ...behindProxy, BASE_URL: issuer });
    onAddress.close();
    expect(found.certificate?.text).toMatch(/ends in (89|90) days$/);
  });

  it('finds metrics and readiness in public', async () => {
    duties = { ...DONE, isOpen: true };
    const { found, troubles } = await examine();
    expect(troubles).toEqual({ metrics: 'error', readiness: 'advice' });
    expect(found.metrics?.text).toBe(`${BASE_URL}/metrics answers to strangers`);
  });

  it('finds a server that believes a forged X-Forwarded-For, behind a proxy or without one', async () => {
    duties = { ...DONE, forwarding: 'passes on' };
    const { found, troubles } = await examine();
    expect(troubles).toEqual({ proxy: 'error' });
    expect(found.proxy?.text).toContain('believes a forged X-Forwarded-For');
    const { BASE_URL: _, ...others } = behindProxy;
    const direct = await ownServer({ ...others, TRUST_PROXY: '1' });
    const variables = { ...behindProxy, BASE_URL: direct.baseUrl };
    expect((await examine(variables)).troubles).toMatchObject({ proxy: 'error', metrics: 'error' });
  });

  it('finds a proxy that drops X-Forwarded-For', async () => {
    duties = { ...DONE, forwarding: 'drops' };
    const { found, troubles } = await examine();
    await database.pool.query('delete from refusals');
    expect(troubles).toEqual({ proxy: 'advice' });
    expect(found.proxy?.text).toBe(
      'TRUST_PROXY is set, but X-Forwarded-For is missing: users behind a proxy count as one',
    );
  });

  it('finds another database behind BASE_URL', async () => {
    const { found } = await examine({ ...behindProxy, DATABASE_URL: (await ownDatabase()).url });
    expect(found.proxy).toMatchObject({ level: 'advice', remedy: expect.stringContaining('DATABASE_URL') });
  });

  it('causes no finding by its own requests', async () => {
    const { TRUST_PROXY: _trust, BASE_URL: _address, ...plain } = behindProxy;
    const unaware = { ...plain, BASE_URL: (await ownServer(plain)).baseUrl };
    for (const _time of [1, 2]) expect((await examine(unaware)).troubles).toEqual({ cookies: 'advice' });
  });

  it.each([
    ['that ends soon', 'localhost', 10, 'advice', /ends in (9|10) days/],
    ['that has ended', 'localhost', 0, 'error', /certificate has expired/],
    ['for another name', 'pay.example', 90, 'error', /certificate's altnames/],
  ])('finds a certificate %s', async (_what, host, days, level, text) => {
    proxy.setSecureContext(certificateFor(host, days));
    const { found } = await examine();
    const { certificate = found.address } = found;
    expect(certificate).toMatchObject({ level, text: expect.stringMatching(text) });
    if (level === 'error') expect(certificate?.text).toContain('not checked: certificate, /metrics,');
  });

  it('finds operators’ tokens that end, until the operators are retired', async () => {
    const variables = onDatabase((await ownDatabase()).url);
    const run = (line: string) => runAssent(line.split(' '), variables);
    await run('operator create nightly --role reads --days 3');
    await run('operator create support --role reads --days 90');
    const { found } = await doctor(variables);
    expect(found.operators?.text).toMatch(/^the token of the operator nightly ends at \d{4}-\d\d-\d\dT\S+Z$/);
    const inFile = (...letters: string[]) => {
      return { role: 'reads', token_sha256: letters.map((letter) => letter.repeat(64)) };
    };
    const operators = {
      crm: inFile('a'),
      'in a file': { ...inFile('b', 'c'), expires_at: '2026-01-01T00:00:00Z' },
    };
    const OPERATORS_FILE = fileIn(folder, 'operators.json', JSON.stringify(operators));
    const { findings } = await doctor({ ...variables, BASE_URL, ADMIN_PORT: '3100', OPERATORS_FILE });
    expect(findings.flatMap(({ check, text }) => (check === 'operators' ? text : []))).toEqual([
      expect.stringContaining('nightly'),
      'the token of the operator in a file ends at 2026-01-01T00:00:00.000Z',
    ]);
    await run('operator retire nightly --yes');
    expect((await doctor(variables)).found.operators).toBeUndefined();
  });

  it('says what a wrong variable keeps it from checking', async () => {
    const about = async (variables: Record<string, string>) => {
      const { findings } = await doctor({ ...behindProxy, ...variables });
      return findings.flatMap(({ text }) => (text.startsWith('not checked') ? text : []));
    };
    expect(await about({ TIME_ZONE: 'Mars' })).toEqual(['not checked: address, provider']);
    const both = ['not checked: address, provider', 'not checked: database'];
    expect(await about({ DATABASE_URL: 'mysql://db' })).toEqual(both);
  });
});
