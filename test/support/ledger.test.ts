import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, inject, it, vi } from 'vitest';
import { ofEach } from '../../vitest.config.ts';
import { type Kind, Ledger, ledger } from './ledger.ts';
import { createDatabase } from './postgres/database.ts';
import { startServer } from './server.ts';

const BYTES = randomBytes(32);
const SECRET = 'Pässword "of" a user & 100% secret';

function found(line: string): string[] {
  const own = new Ledger();
  own.note('password', SECRET);
  return own.search('the log', ['a line before', line]);
}

function notedSecret(): string {
  const secret = randomBytes(16).toString('base64url');
  ledger.note('database password', secret);
  return secret;
}

describe('the search for secrets', () => {
  it.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => secret],
    ['as it is', (secret) => `…${secret.slice(5, 25)}…`],
    ['in lower case', (secret) => secret.toLowerCase()],
    ['percent-encoded', (secret) => `/?password=${encodeURIComponent(secret)}`],
    ['percent-encoded', (secret) => String(new URLSearchParams({ password: secret }))],
    ['escaped', (secret) => JSON.stringify({ password: secret })],
    ['in base64', (secret) => Buffer.from(secret).toString('base64url')],
    ['in base64', (secret) => `Basic ${Buffer.from(`a:${secret}`).toString('base64')}`],
    ['in base64', (secret) => `Basic ${Buffer.from(`ab:${secret}`).toString('base64')}`],
    ['in hex', (secret) => `\\x${Buffer.from(secret).toString('hex')}`],
    ['as a list of bytes', (secret) => JSON.stringify(Buffer.from(secret))],
    [
      'as a list of bytes',
      (secret) => `<Buffer 20 ${Buffer.from(secret).toString('hex').replace(/../g, '$& ')}>`,
    ],
  ])('finds a secret, and reports where without showing the secret: %s (example %#)', (how, write) => {
    const [finding = '', ...others] = found(`{"msg":"something ${write(SECRET)} and more"}`);
    expect(finding).toMatch(
      new RegExp(`^password, ${how}, in line 2 of the log: ….*something .*\\(here\\)$`),
    );
    expect(finding).not.toMatch(/a user|secret/i);
    expect(others).toEqual([]);
  });

  it.each<[Kind, string]>([
    ['client secret', BYTES.toString('hex')],
    ['session cookie', BYTES.toString('base64url')],
    ['code', `assent_ac_${Buffer.concat([randomBytes(16), BYTES]).toString('base64url')}`],
  ])('finds the decoded bytes of a %s', (kind, secret) => {
    const own = new Ledger();
    own.note(kind, secret);
    expect(own.search('a row', [`\\x${BYTES.toString('hex')}`, JSON.stringify(BYTES)])).toHaveLength(2);
  });

  it('finds a code and a token by their prefixes, even if they are not in its list', () => {
    expect(new Ledger().search('a row', ['assent_ac_AAAA', 'assent_at_AAAA'])).toHaveLength(2);
  });
});

describe('the set-up of each test file', () => {
  it('clears the list of secrets of the previous file', async () => {
    const before = notedSecret();
    expect(ledger.search('the log', [before])).toHaveLength(1);
    for (const file of ofEach.setupFiles) await import(/* @vite-ignore */ `../../${file}?again`);
    expect(ledger.search('the log', [before])).toEqual([]);
  });
});

describe('closing a test server', () => {
  it('reports a secret in its log and in its metrics', async () => {
    const server = await startServer();
    server.logLines.push(`{"headers":{"cookie":"assent_session=${notedSecret()}"}}\n`);
    vi.spyOn(server.metrics, 'metrics').mockResolvedValue(`assent_logins{login="${notedSecret()}"} 1`);
    await expect(server.close()).rejects.toThrow(/in line 1 of the metrics: .*\n.*in line \d+ of the log: /);
  });
});

describe('dropping a test database', () => {
  it('reports a secret in the audit trail and in any other table, and still drops the database', async () => {
    const { pool, url, drop } = await createDatabase();
    await pool.query(`insert into audit_events (kind, reference) values ('approved', $1)`, [notedSecret()]);
    await pool.query('create schema other; create table other.kept (everything bytea)');
    await pool.query('insert into other.kept values ($1)', [Buffer.from(notedSecret())]);
    const dropping = drop();
    await expect(dropping).rejects.toThrow(/password, as it is, in line 1 of the table audit_events: /);
    await expect(dropping).rejects.toThrow(/password, in hex, in line 1 of the table other\.kept: /);
    await expect(new Client(url).connect()).rejects.toMatchObject({ code: '3D000' });
  });

  it.skipIf(inject('postgresLog') === 'nowhere')('reports a secret in PostgreSQL’s log', async () => {
    const { pool, drop } = await createDatabase();
    await pool.query(`set log_min_messages = log; do $$ begin raise log '${notedSecret()}'; end $$`);
    await expect(drop()).rejects.toThrow(/password, as it is, in line \d+ of the log of PostgreSQL: /);
  });
});
