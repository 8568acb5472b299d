import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reachConsent, requestOf, trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { CHECKOUT, readFile as read, useFolder } from '../support/process/folder.ts';
import { onDatabase, spawnAssent, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';

// The folder /app of the image, which is the bundle of `scripts/bundle.mjs`, away from the checkout's packages.

const folder = useFolder();
execFileSync(process.execPath, ['scripts/bundle.mjs', folder], { cwd: CHECKOUT });

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
const packages = files.filter((file) => /node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(file));
const executable = join(folder, 'bin', 'assent.js');
const { url } = await useDatabase(`template template0 encoding 'UTF8' locale 'C'`);
const settings = onDatabase(url);
/** Passwords are hashed for real: the cheap hashes of other tests are made in the checkout's packages. */
const assent = async (command: string, variables = {}, stdin = '') => {
  const run = await spawnAssent(command.split(' '), { ...settings, ...variables }, stdin, executable);
  return `${run.stdout}${run.stderr}`;
};

describe('the container image', () => {
  it('has few code files, and no documents, type declarations or sources of packages', () => {
    const parts = [...new Set(files.map((file) => file.split('/')[0]))];
    const folders = ['bin', 'demo', 'deploy', 'dist', 'docs', 'migrations', 'node_modules', 'views'];
    expect(parts.toSorted()).toEqual([...folders, 'package.json'].toSorted());
    const others = files.filter((file) => /\.(md|markdown|ya?ml|[cm]?ts)$/.test(file));
    expect(others.filter((file) => !/licen[cs]e\.md$/i.test(file))).toEqual([]);
    expect(files.filter((file) => /^dist.*\.js$/.test(file)).length).toBeLessThan(80);
    expect(files).toContain('node_modules/pg/lib/client.js'); // tracing changes it, so it is not bundled
  });

  it('has all licences of each package, also where the package has no file with the text', () => {
    const homes = packages.map((file) => dirname(file));
    expect(homes.length).toBeGreaterThan(70);
    const licencesOf = (home: string, root = folder) =>
      readdirSync(join(root, home)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    const textOf = (home: string) =>
      licencesOf(home)
        .map((file) => readFileSync(join(folder, home, file), 'utf8'))
        .join();
    for (const home of homes) {
      expect(licencesOf(home), home).toEqual(expect.arrayContaining(licencesOf(home, CHECKOUT)));
      expect(textOf(home), home).toMatch(/permission|redistribution|apache license|all copies/i);
    }
    for (const [name, owner] of [
      ['pg-types', 'Brian M. Carlson'],
      ['pgpass', 'Hannes Hörl'],
      ['abstract-logging', 'James Sumners'],
    ])
      expect(textOf(`node_modules/${name}`)).toContain(owner);
  });

  it('migrates, serves pages and the operators’ API, checks passwords, and formats phone numbers', async () => {
    expect(await assent('migrate')).toMatch(/^migrated the schema/m);
    const [password, paymentPassword] = [newSecret(), newSecret()];
    await assent('user create anna --name Anna --password-stdin', {}, `${password}\n${paymentPassword}\n`);
    const redirectUri = 'http://127.0.0.1:9/callback';
    const shop = JSON.parse(await assent(`client create --json --name Shop --redirect-uri ${redirectUri}`));
    const ADMIN_PORT = String(await freePort());
    const server = await spawnServer({ ...settings, ADMIN_PORT }, 'ready', executable);
    const token = JSON.parse(await assent('operator create reader --role reads --json')).operator_token;
    const document = await fetch(`http://localhost:${ADMIN_PORT}/v1/openapi.json`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await document.text()).toBe(JSON.stringify(JSON.parse(read('docs/openapi.json'))));

    const scope = 'payment.to-account("79161234567","phone").limit(30,200)';
    const request = requestOf({ clientId: shop.client_id, clientSecret: null, redirectUri }, { scope });
    const user = { userId: '', login: 'anna', password, paymentPassword };
    expect(await trySignIn(new Agent(server.baseUrl), 'anna', newSecret())).toBe('wrong');
    const consent = await reachConsent(new Agent(server.baseUrl), request, user);
    expect(consent.text).toContain('phone number “+79161234567”'); // the plus is the library's
    expect(await assent('doctor', { BASE_URL: server.baseUrl })).toMatch(/^ok +schema version \d+/m);
    expect(await server.stop()).toBe(0);
  });

  it('shows files and lines of src in a stack trace', async () => {
    const [, ofImage = ''] = /NODE_OPTIONS=(\S+)/.exec(read('Dockerfile')) ?? [];
    const traced = 'process.constrainedMemory=()=>{console.trace();return(0)}';
    const NODE_OPTIONS = `${ofImage} --import=data:text/javascript,${traced}`;
    const output = await assent('client list', { NODE_OPTIONS });
    const lines = read('src/secrets/password.ts').split('\n');
    const line = lines.findIndex((text) => text.includes('process.constrainedMemory')) + 1;
    expect(output).toContain(`/src/secrets/password.ts:${line}:`);
  });
});
