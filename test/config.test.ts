import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../src/config.ts';

const COMPLETE = {
  DATABASE_URL: 'postgres://assent@db/assent',
  BASE_URL: 'https://pay.example',
  SECRETS: 'x'.repeat(32),
};

function problems(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
}

describe('the environment', () => {
  it('may be empty: trial mode', () => {
    expect(readConfig({})).toMatchObject({
      databaseUrl: null,
      host: 'localhost',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      secrets: null,
      codeLifetimeSeconds: 50,
      trustProxy: false,
      maxConnections: 4000,
      demo: true,
      currency: 'RUB',
    });
  });

  it('takes the port into the default address, and an empty value for none', () => {
    expect(readConfig({ PORT: '4000', HOST: '', SECRETS: '' })).toMatchObject({
      baseUrl: 'http://localhost:4000',
      host: 'localhost',
    });
  });

  it('needs an address and secrets beside a database, and has no demo there', () => {
    expect(problems({ DATABASE_URL: COMPLETE.DATABASE_URL })).toEqual([
      'BASE_URL is required when DATABASE_URL is set.',
      'SECRETS is required when DATABASE_URL is set.',
    ]);
    expect(readConfig(COMPLETE)).toMatchObject({
      demo: false,
      secrets: [COMPLETE.SECRETS],
      baseUrl: 'https://pay.example',
    });
  });

  it.each([
    ['PORT', ['0', '65536', 'x', '-1', '1.5']],
    [
      'BASE_URL',
      [
        'pay.example',
        'ftp://pay.example',
        'https://pay.example/path',
        'https://u@pay.example',
        'https://pay.example?x',
        'https://a\\b',
      ],
    ],
    ['SECRETS', ['short', `${'x'.repeat(32)},short`, `${'x'.repeat(32)},`]],
    ['CODE_LIFETIME_SECONDS', ['0', '60', 'x']],
    ['LOG_LEVEL', ['loud']],
    [
      'TRUST_PROXY',
      [
        'everybody',
        '10.0.0.0/8,x',
        '999.1.1.1',
        '10.0.0.0/33',
        '0.0.0.0/0',
        '::/0',
        '::1/129',
        '1.2.3.4/8/8',
      ],
    ],
    ['DEMO', ['maybe']],
    ['CURRENCY', ['rub', 'RUBL']],
    ['DATABASE_URL', ['mysql://x/y', 'x']],
  ])('refuses a wrong %s in one line that says what is allowed', (name, values) => {
    for (const value of values) {
      const said = problems({ ...COMPLETE, [name]: value });
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(new RegExp(`^${name} must .{10,}\\.$`));
    }
  });

  it('takes the secret of docker-compose.yml on this machine only', () => {
    const compose = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');
    const SECRETS = /SECRETS: \$\{SECRETS:-(.+)\}/.exec(compose)?.[1] ?? '';
    expect(problems({ ...COMPLETE, SECRETS, BASE_URL: 'http://localhost:3000' })).toEqual([]);
    expect(problems({ ...COMPLETE, SECRETS })).toEqual([expect.stringMatching(/^SECRETS must be your own/)]);
  });

  it('takes two secrets while they are being replaced', () => {
    const [old, fresh] = ['o'.repeat(32), 'n'.repeat(40)];
    expect(readConfig({ ...COMPLETE, SECRETS: `${old}, ${fresh}` }).secrets).toEqual([old, fresh]);
  });

  it('takes a hop count or networks for TRUST_PROXY', () => {
    expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2);
    expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, ::1' }).trustProxy).toEqual(['10.0.0.0/8', '::1']);
  });

  it('takes another catalogue from a file, and says what is wrong with it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-catalogue-'));
    const file = join(folder, 'catalogue.json');
    try {
      writeFileSync(file, '{"account-info": "Look at your account"}');
      expect(readConfig({ CATALOGUE: file }).catalogue).toEqual({ 'account-info': 'Look at your account' });
      writeFileSync(file, '{"payment.to-account": "Transfer money"}');
      expect(problems({ CATALOGUE: file })[0]).toContain('{target}');
      writeFileSync(file, '{"payment-p2p": " "}');
      expect(problems({ CATALOGUE: file })[0]).toContain('must say something');
      writeFileSync(file, '{"payment.to-pattern": "{target} or {target}"}');
      expect(problems({ CATALOGUE: file })[0]).toContain('once');
      writeFileSync(file, '{"fly": "Fly"}');
      expect(problems({ CATALOGUE: file })[0]).toMatch(/^CATALOGUE must be a JSON file/);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(problems({ CATALOGUE: file })[0]).toMatch(/^CATALOGUE must be a JSON file/);
  });
});
