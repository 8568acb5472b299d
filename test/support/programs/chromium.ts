import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

// Added to Playwright's own. Nothing here may loosen web security: CORS, CSP and SameSite are what is tested. No
// --disable-features either: Chromium heeds only the last one, so it would undo Playwright's.
const ARGS = [
  '--site-per-process',
  '--disable-gpu',
  '--disable-quic',
  '--disable-domain-reliability',
  '--font-render-hinting=none',
  // Whatever still wants to call out gets no further than this machine.
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*, EXCLUDE [::1]',
];
const PACKAGE = '@sparticuz/chromium';
/** Only this user can write there, as whatever lies in it gets executed, and no cleaner of /tmp comes by. */
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/assent-chromium');
const PARTS = ['chromium', 'al2023/lib/libnss3.so'];
const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPS = ['Google Chrome', 'Chromium'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);

/** Starts a headless Chromium: the packaged one, else one installed on this machine. Throws if none starts. */
export async function launchChromium(): Promise<Browser> {
  const tried: string[] = [];
  for (const path of [PACKAGE, ...installedPaths()]) {
    try {
      return await start(path === PACKAGE ? await packaged() : { executablePath: path });
    } catch (error) {
      tried.push(`${path}: ${stripVTControlCharacters(String(error))}`);
    }
  }
  throw new Error(
    `No Chromium starts: install Chromium or Google Chrome, or set CHROME_PATH to one.\n${tried.join('\n')}`,
  );
}

/** Starts one browser, in the sandbox where that works: never for root, nor in most containers. */
async function start(options: LaunchOptions): Promise<Browser> {
  const bare = { ...options, args: ARGS, chromiumSandbox: false };
  if (process.getuid?.() === 0) return chromium.launch(bare);
  return chromium.launch({ ...bare, chromiumSandbox: true }).catch(() => chromium.launch(bare));
}

/** The browser inside the package, with the shared libraries and fonts that a slim machine lacks. */
async function packaged(): Promise<LaunchOptions> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('only for Linux on x64');
  const dir = await unpacked();
  const libraries = [join(dir, 'al2023/lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  const env = { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: join(dir, 'fonts') };
  return { executablePath: join(dir, 'chromium'), env };
}

/** The folder that holds the unpacked package. It gets its name when it is whole, so that no process meets half of it. */
async function unpacked(): Promise<string> {
  const manifest = join(createRequire(import.meta.url).resolve(PACKAGE), '../../../package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const dir = join(CACHE, version);
  if (existsSync(dir)) return dir;
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(`${dir}-`);
  await unpack(own, dir);
  await rename(own, dir).catch(() => rm(own, { recursive: true })); // another process was quicker
  return dir;
}

/** Has the package unpack itself, in a process of its own: the environment says where, and that it is on AWS Lambda. */
async function unpack(own: string, dir: string): Promise<void> {
  const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  const script = `import chromium from '${PACKAGE}'; await chromium.executablePath();`;
  const args = ['--input-type=module', '--eval', script];
  await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
  // The package's own fonts.conf knows only /tmp/fonts and Lambda's folders, and its font lacks the sign of the rouble.
  const fonts = `<fontconfig><dir>${dir}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${dir}/fonts-cache</cachedir></fontconfig>\n`;
  await writeFile(join(own, 'fonts/fonts.conf'), fonts);
  for (const part of PARTS) await access(join(own, part));
}

/** The browsers installed on this machine, after the one CHROME_PATH names. */
function installedPaths(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const onPath = COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)));
  const named = process.env.CHROME_PATH ? [process.env.CHROME_PATH] : [];
  return [...named, ...[...onPath, ...MAC_APPS].filter((path) => existsSync(path))];
}
