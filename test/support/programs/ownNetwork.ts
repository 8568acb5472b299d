import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { outcomeOf, PATH, versionOf } from '../process/program.ts';
import { makeCertificate } from './certificates.ts';

const UNSHARE = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  ...['--mount', '--net'],
];
/** PostgreSQL is reached from another network only at a socket. */
const hasSocket = () => (new URL(inject('postgres')).searchParams.get('host') ?? '').startsWith('/');

/** Whether {@link inOwnNetwork} works here. */
export const hasNetworks =
  hasSocket() && versionOf([...UNSHARE, 'ip', 'address', 'show', 'lo']) !== undefined;

export interface Internet {
  /** Its one machine has them. */
  readonly addresses: readonly string[];
  /** The answers for each name, one after the other; the last one again and again. */
  readonly names: Readonly<Record<string, Partial<Record<'A' | 'AAAA', readonly (readonly string[])[]>>>>;
  readonly port: number;
}

export interface Seen {
  readonly runs: readonly { readonly code: number; readonly stdout: string; readonly stderr: string }[];
  /** By the address that was connected to. */
  readonly connections: Readonly<Record<string, number>>;
  /** How often a name was asked for. */
  readonly questions: Readonly<Record<string, Readonly<Partial<Record<'A' | 'AAAA', number>>>>>;
}

/**
 * Runs commands, one after the other, where only this Internet is reached: its name server is the system's, and its machine answers
 * each request with 204, and a certificate for all names. @param folder for its files
 */
export async function inOwnNetwork(
  folder: string,
  internet: Internet,
  commands: readonly (readonly string[])[],
  variables: Readonly<Record<string, string>>,
): Promise<Seen> {
  const names = Object.keys(internet.names).map((name) => `DNS:${name}`);
  makeCertificate(folder, 'receiver', 'receiver', `subjectAltName=${names}`);
  const script = fileURLToPath(new URL('ownNetwork.mjs', import.meta.url));
  const [program = '', ...args] = [...UNSHARE, process.execPath, script];
  const child = spawn(program, [...args, JSON.stringify({ folder, ...internet, commands })], {
    env: { PATH, NODE_EXTRA_CA_CERTS: `${folder}/receiver.crt`, ...variables },
    stdio: 'pipe',
  });
  const { code, stdout, stderr } = await outcomeOf(child);
  if (code !== 0) throw new Error(`the network ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
