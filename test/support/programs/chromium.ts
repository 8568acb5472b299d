import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, lstat, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
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
/** Their presence shows an unpacked package to be whole. */
const PARTS = ['chromium', 'al2023/lib/libnss3.so', 'fonts/fonts.conf'];
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

/**
 * The folder holding the unpacked package. A process that finds none unpacks into a folder of its own, and
 * links it once whole: nobody meets a half-filled folder, and none in use is ever replaced.
 */
async function unpacked(): Promise<string> {
  const manifest = join(createRequire(import.meta.url).resolve(PACKAGE), '../../../package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const link = join(await privateHome(), `${version}-with-fonts`);
  const ready = await whole(link);
  if (ready) return ready;
  await rm(link, { force: true });
  const dir = await mkdtemp(`${link}-`);
  try {
    await unpack(dir);
    await symlink(dir, link);
    return dir;
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    const winner = await whole(link); // another process was quicker
    if (winner) return winner;
    throw error;
  }
}

/** A folder that only this user can write to, as what lies in it gets executed. */
async function privateHome(): Promise<string> {
  const uid = process.getuid?.();
  const home = join(tmpdir(), `assent-chromium-${uid}`);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const stats = await lstat(home);
  if (stats.isDirectory() && stats.uid === uid && !(stats.mode & 0o022)) return home;
  throw new Error(`${home} is not this user's alone: remove it, or set TMPDIR`);
}

/** The folder behind the link, unless a part is missing: cleaners of /tmp remove file by file. */
async function whole(link: string): Promise<string | undefined> {
  try {
    const dir = await realpath(link);
    await Promise.all(PARTS.map((part) => access(join(dir, part))));
    return dir;
  } catch {
    return undefined;
  }
}

/** Has the package unpack itself, in a process of its own: the environment says where, and that it is on AWS Lambda. */
async function unpack(dir: string): Promise<void> {
  const env = { ...process.env, TMPDIR: dir, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  const script = `import chromium from '${PACKAGE}'; await chromium.executablePath();`;
  const args = ['--input-type=module', '--eval', script];
  await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
  // The package's own fonts.conf knows only /tmp/fonts and Lambda's folders, and its font lacks the sign of the rouble.
  const fonts = `<fontconfig><dir>${dir}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${dir}/fonts-cache</cachedir></fontconfig>\n`;
  await writeFile(join(dir, 'fonts/fonts.conf'), fonts);
  if (!(await whole(dir))) throw new Error(`${PACKAGE} lacks one of ${PARTS.join(', ')}`);
}

/** The browsers installed on this machine, after the one CHROME_PATH names. */
function installedPaths(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const onPath = COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)));
  const named = process.env.CHROME_PATH ? [process.env.CHROME_PATH] : [];
  return [...named, ...[...onPath, ...MAC_APPS].filter((path) => existsSync(path))];
}
