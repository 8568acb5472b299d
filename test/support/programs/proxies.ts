import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { CHECKOUT, makeDataDir } from '../process/folder.ts';
import { PATH, startProgram, versionOf } from '../process/program.ts';
import { freePort } from '../server.ts';
import { makeCertificate } from './certificates.ts';

export interface ProxyKind {
  readonly name: string;
  readonly version: string | undefined;
  readonly file: string;
  readonly checks: boolean;
  changes(place: Place): readonly (readonly [from: string, to: string])[];
  command(file: string, place: Place): string[];
  /** Makes it read a caller's address from the PROXY protocol; absent if it limits no callers. */
  readonly takesAddress?: readonly [from: string, to: string];
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly plainPort: number;
}

/** Tests with each proxy, which are skipped where it is not installed. */
export function describeProxies(place: string, tests: (kind: ProxyKind) => void): void {
  for (const kind of PROXIES) {
    const found = kind.version ?? 'not installed: skipped';
    describe.runIf(kind.version)(`${kind.name} ${place}, ${found}`, () => tests(kind));
  }
}

export type RunningProxy = Awaited<ReturnType<typeof startProxy>>;

const PROXY_PAGES = join(CHECKOUT, 'deploy/proxy');

const NGINX: ProxyKind = {
  name: 'nginx',
  version: versionOf(['nginx', '-v'], /nginx\/(\S+)/),
  file: 'nginx/assent.conf',
  checks: false,
  takesAddress: [
    'ssl http2;',
    'ssl http2 proxy_protocol; set_real_ip_from 127.0.0.1; real_ip_header proxy_protocol;',
  ],
  changes: ({ folder, port, plainPort }) => [
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['    listen [::]:80;\n', ''],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['    listen [::]:443 ssl http2;\n', ''],
    ['server_name pay.example;', 'server_name localhost;'],
    ['https://pay.example', `https://localhost:${port}`],
    ['/etc/assent/tls', folder],
    ['/srv/assent', PROXY_PAGES],
    ['/var/log/nginx', folder],
  ],
  command(file, { folder }) {
    const whole = join(folder, 'nginx.conf');
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      whole,
      `${user} daemon off; pid ${folder}/pid; error_log stderr; events {}
       http { access_log off; ${paths.join(' ')} include ${file}; }`, // Debian's default log is root's
    );
    return ['nginx', '-e', 'stderr', '-c', whole];
  },
};

const HAPROXY: ProxyKind = {
  name: 'HAProxy',
  version: versionOf(['haproxy', '-v'], /version (\S+)/),
  file: 'haproxy/haproxy.cfg',
  checks: true,
  takesAddress: [' ssl crt', ' accept-proxy ssl crt'],
  changes: ({ folder, port, plainPort }) => [
    ['bind :80', `bind 127.0.0.1:${plainPort}`],
    ['bind :443', `bind 127.0.0.1:${port}`],
    ['/etc/assent/tls', folder],
    ['/srv/assent', PROXY_PAGES],
  ],
  command: (file) => ['haproxy', '-db', '-f', file],
};

const CADDY: ProxyKind = {
  name: 'Caddy',
  version: versionOf(['caddy', 'version'], /v?(\d\S+)/),
  file: 'caddy/Caddyfile',
  checks: true,
  changes: ({ folder, port, plainPort }) => [
    ['\tservers {', `\tadmin off\n\thttp_port ${plainPort}\n\tservers {`],
    [
      'pay.example {',
      `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`,
    ],
  ],
  command: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
};

export const PROXIES = [NGINX, HAPROXY, CADDY];

/** Starts a proxy with the file that operators get, changed by `more`, in front of two servers of this machine. */
export async function startProxy(
  kind: ProxyKind,
  port: number,
  servers: readonly [number, number],
  more: readonly (readonly [from: string, to: string])[] = [],
) {
  const folder = makeDataDir();
  chmodSync(folder, 0o755);
  const names = 'subjectAltName=DNS:localhost';
  const [key = '', certificate = ''] = makeCertificate(folder, 'localhost', 'localhost', names);
  const files = { 'privkey.pem': key, 'fullchain.pem': certificate, 'assent.pem': certificate + key };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const place = { folder, port, plainPort: await freePort() };
  const file = join(folder, 'configuration');
  const shipped = readFileSync(new URL(`../../../deploy/${kind.file}`, import.meta.url), 'utf8');
  const addresses = servers.map((each, index) => [`127.0.0.1:${3001 + index}`, `127.0.0.1:${each}`] as const);
  writeFileSync(file, change(shipped, [...kind.changes(place), ...addresses, ...more]));
  const program = await startProgram(kind.command(file, place), port, { env: { PATH, HOME: folder } });
  return {
    baseUrl: `https://localhost:${port}`,
    async stop() {
      await program.stop('SIGTERM');
      rmSync(folder, { recursive: true });
    },
  };
}

/** Every text to change must exist: the tests check the file that operators get. */
function change(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the configuration has no "${from}"`);
    return changed.replaceAll(from, to);
  }, text);
}
