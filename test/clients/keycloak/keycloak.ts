import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, vi } from 'vitest';
import { ledger } from '../../support/ledger.ts';
import { outputOf } from '../../support/process/program.ts';
import { freePort } from '../../support/server.ts';
import realm from './realm.json' with { type: 'json' };

// A real Keycloak. It writes into its folder, so a copy is run.

const UNPACKED = process.env.KEYCLOAK ?? '$KEYCLOAK';

/** The required command, which needs Java. */
export const KC = join(UNPACKED, 'bin/kc.sh');

/** A user there; `id` is the `sub` of ID tokens. */
export interface Person {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

interface NewRealm {
  /** Keycloak's setting for the hashes of passwords; empty for its default. */
  readonly passwordPolicy: string;
  readonly people: readonly Person[];
}

/** Starts it, and waits until it answers. @param realms by their names; `wallet` has the client of Assent */
export async function useKeycloak(realms: Readonly<Record<string, NewRealm>>) {
  const home = mkdtempSync(join(tmpdir(), 'assent-keycloak-'));
  afterAll(() => rmSync(home, { recursive: true }));
  const data = join(UNPACKED, 'data');
  cpSync(UNPACKED, home, { recursive: true, filter: (path) => path !== data });
  mkdirSync(join(home, 'data/import'), { recursive: true });
  for (const [name, given] of Object.entries(realms))
    writeFileSync(join(home, `data/import/${name}-realm.json`), JSON.stringify(realmOf(name, given)));

  const program = join(home, 'bin/kc.sh');
  const run = (...args: string[]) => promisify(execFile)(program, args);
  await run('build', '--db', 'dev-file', '--cache', 'local');

  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const issuer = `${origin}/realms/${realm.realm}`;
  const stop = await start(program, `${issuer}/.well-known/openid-configuration`, [
    ...['start', '--optimized', '--import-realm', '--cache', 'local', '--hostname-strict', 'false'],
    ...['--http-enabled', 'true', '--http-host', 'localhost', '--http-port', String(port)],
  ]);

  /** Stops it, since only one process can use its database. @returns the files with users */
  async function exportUsers(): Promise<string[]> {
    await stop();
    const folder = join(home, 'export');
    await run('export', '--optimized', '--dir', folder, '--users', 'different_files');
    const files = readdirSync(folder).filter((file) => file.includes('-users-'));
    return files.map((file) => join(folder, file));
  }
  const clientSecret = realm.clients[0]?.secret ?? '';
  ledger.note('client secret', clientSecret);
  return { origin, exportUsers, settings: { issuer, clientId: 'assent', clientSecret, createsUsers: true } };
}

async function start(program: string, address: string, args: string[]): Promise<() => Promise<void>> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = outputOf(child);
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await ended;
  };
  afterAll(stop);
  const failed = ended.then(() => {
    throw new Error(`Keycloak ended:\n${output()}`);
  });
  const answers = async () => (await fetch(address).catch(() => null))?.ok === true;
  await Promise.race([vi.waitUntil(answers, { timeout: 240_000, interval: 100 }), failed]).catch((error) => {
    child.kill();
    throw error;
  });
  return stop;
}

function realmOf(name: string, { passwordPolicy, people }: NewRealm) {
  const users = people.map(({ id, username, password }) => {
    const profile = { firstName: 'Test', lastName: username, email: `${username}@wallet.example` };
    return { id, username, enabled: true, ...profile, credentials: [{ type: 'password', value: password }] };
  });
  return { ...(name === realm.realm && realm), realm: name, enabled: true, passwordPolicy, users };
}
