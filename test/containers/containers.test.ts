import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { obtainCode, requestOf, tokenRequestOf, trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { type Load, startLoad } from '../support/http/load.ts';
import { newSecret } from '../support/ledger.ts';
import { addMigration } from '../support/process/builds.ts';
import { readFile } from '../support/process/folder.ts';
import { makeCertificate } from '../support/programs/certificates.ts';
import { freePort, type TestClient, type TestUser } from '../support/server.ts';
import { Engine } from './engine.ts';
import { copyCheckout, Service } from './service.ts';
import { makeStandIns } from './standIns.ts';

// The image and both compose files on a real engine, by the blocks of docs/operate/containers.md, under requests.

const started = await Engine.start().catch((error: Error) => error.message);
if (typeof started === 'string') console.log(`Not tested: containers, since no engine starts: ${started}`);

/** Requests that go on while operators do something, fewer than a proxy of ours lets one network ask for. */
const startStream = (baseUrl: string) =>
  startLoad(baseUrl, { connections: 2, keepAlive: false, pauseMs: 20 });

/** Packages come from this machine's network; the engine has none of its own. */
const builtHere = (...services: string[]) =>
  ['services:', ...services.map((name) => `  ${name}: { build: { network: host } }`), ''].join('\n');

/** The line of the page that imports a file in containers, without its remark. */
const [importing = 'false'] =
  /^docker compose run .+?(?= +#)/m.exec(readFile('docs/operate/moving-in.md')) ?? [];

/** Each character that a shell, Compose or psql might read as more than itself. */
const ODD = String.raw`$HOME "two" # \'one\' %41 @:/?`;
const REVISION = 'org.opencontainers.image.revision';
const SLOW = 'select pg_sleep(25)';
/** 250 MB, then the oldest goes. */
const LOG_BOUNDS = { 'max-file': '5', 'max-size': '50m' };

const blocks = [...readFile('docs/operate/containers.md').matchAll(/^```sh\n(.*?)^```/gms)].map(
  ([, block = '']) => block,
);

function block(words: string): string {
  const [found, ...others] = blocks.filter((each) => each.includes(words));
  if (found === undefined || others.length > 0) throw new Error(`not one block of the page has: ${words}`);
  return found;
}

describe.runIf(started instanceof Engine)('in containers', () => {
  const engine = started as Engine;
  let checkout: string;

  beforeAll(async () => {
    await makeStandIns(engine);
    checkout = copyCheckout(path.join(engine.folder, 'assent'));
  });

  afterAll(() => engine.stop());

  describe('one server', () => {
    let service: Service;
    let baseUrl: string;
    let client: TestClient;
    let user: TestUser;
    /** The file of the latest version's migration. */
    let newest: string;

    beforeAll(async () => {
      const port = await freePort();
      baseUrl = `http://localhost:${port}`;
      const variables = { PORT: String(port), BASE_URL: baseUrl, REVISION: 'first', TRUST_PROXY: '1' };
      service = new Service(
        engine,
        checkout,
        builtHere('migrate', 'assent', 'notify', 'maintain'),
        variables,
      );
    });

    afterAll(() => service?.run('docker compose down --volumes --timeout 1'));

    const assent = async (command: string) =>
      JSON.parse(await service.run(`docker compose exec -T assent assent ${command} --json`));

    const isReady = async () => expect((await fetch(`${baseUrl}/health/ready`)).status).toBe(200);

    it('starts, and docker compose up ends when it is ready', async () => {
      await service.run(block('up --detach --wait  '));
      await isReady();
      const { Config, State, HostConfig } = await service.inspect('assent');
      expect(State.Health.Status).toBe('healthy');
      expect(Config.Labels[REVISION]).toBe('first');
      expect(HostConfig.LogConfig.Config).toEqual(LOG_BOUNDS);
      expect(await service.run('docker compose logs notify')).toContain('"notifying"');
    });

    it('exchanges a code for a token', async () => {
      const redirectUri = 'https://shop.example/callback';
      const made = await assent(`client create --name "My Shop" --redirect-uri ${redirectUri}`);
      client = { clientId: made.client_id, clientSecret: made.client_secret ?? null, redirectUri };
      const [password, paymentPassword] = [newSecret(), newSecret()];
      const create = 'docker compose exec -T assent assent user create anna --name Anna --password-stdin';
      await service.run(create, `${password}\n${paymentPassword}\n`);
      user = { login: 'anna', password, paymentPassword } as TestUser;
      const code = await obtainCode(new Agent(baseUrl), requestOf(client), user);
      const body = new URLSearchParams(tokenRequestOf(client, code));
      expect((await fetch(`${baseUrl}/oauth/token`, { method: 'POST', body })).status).toBe(200);
    });

    it('records the operator of a command in the audit trail', async () => {
      const named = block('exec -e ASSENT_OPERATOR').replace(' exec ', ' exec -T ');
      await service.run(named.replace('client list', 'user update anna --name Anne'));
      const events = await assent('audit --login anna --outcome user_updated');
      expect(events).toMatchObject([{ operator: os.userInfo().username }]);
    });

    it('imports users from a file, as the owner of the tables', async () => {
      const user = JSON.stringify({ login: 'vera', name: 'Vera', external_id: '1' });
      fs.writeFileSync(path.join(checkout, 'users.ndjson'), `${user}\n`);
      await service.run(importing);
      expect(await assent('user show vera')).toMatchObject({ name: 'Vera', external_id: '1' });
      await assent('user delete vera --yes');
    });

    it('throttles sign-in attempts by the address that a proxy forwards', async () => {
      const from = (address: string) => new Agent(baseUrl, { 'x-forwarded-for': address });
      for (let tries = 0; tries < 6; tries += 1) await trySignIn(from('203.0.113.9'), 'anna', newSecret());
      expect(await trySignIn(from('203.0.113.9'), 'anna', newSecret())).toBe('wait');
      expect(await trySignIn(from('198.51.100.7'), 'anna', user.password)).toBe('right');
    });

    it('serves while a new version is built and its migration runs', async () => {
      newest = addMigration(checkout, 'slow', SLOW);
      service.variables.REVISION = 'second';
      const stream = startStream(baseUrl);
      await service.run(block('build\ndocker compose run'));
      await stream.answered(20);
      await stream.stop();
      expect(stream.failures).toEqual({});
      await service.run(block('--wait assent maintain'));
      await isReady();
      expect((await service.inspect('assent')).Config.Labels[REVISION]).toBe('second');
    });

    it('runs with new passwords for its database roles', async () => {
      const ofServer = block('alter role assent_server');
      await service.run(ofServer);
      await isReady();
      const ofOwner = ofServer.replace('assent_server', 'assent').replaceAll('SERVER_', 'POSTGRES_');
      await service.run(ofOwner.replace('--wait assent', '--wait maintain'));
      await service.run('docker compose run --rm --no-deps migrate');
    });

    it('restores a dump, and revokes the authorizations in it', async () => {
      await service.run(block('pg_dump'));
      await assent('user update anna --name Later');
      await service.run(block('pg_restore'));
      const revoke = block('grant revoke').replace(/\S+\n$/, `${new Date().toISOString()} --yes`);
      await service.run(revoke.replace(' run ', ' run -T '));
      await service.run(block('--wait assent maintain'));
      expect(await assent('user list')).toMatchObject([{ login: 'anna', name: 'Anne' }]);
      expect(await assent('grant list --login anna')).toMatchObject([{ state: 'revoked' }]);
    });

    it('returns to the previous version, on the newer schema', async () => {
      fs.rmSync(newest);
      service.variables.REVISION = 'first';
      await service.run('docker compose build');
      await service.run('docker compose up --detach --no-deps --wait assent');
      await isReady();
      expect((await service.inspect('assent')).Config.Labels[REVISION]).toBe('first');
    });

    const check = async (what: string) => (await service.try(`docker compose exec -T ${what}`)).code;
    const isMaintained = () => check('maintain test -e /tmp/maintained');

    it('is live, but not ready, without its database, and stops with exit code 0', async () => {
      await service.run('docker compose stop postgres && docker compose restart maintain');
      await expect.poll(() => check('assent assent-health ready')).toBe(1);
      expect(await check('assent assent-health live')).toBe(0);
      await expect.poll(isMaintained).toBe(1);
      await service.run('docker compose stop assent');
      expect((await service.inspect('assent')).State.ExitCode).toBe(0);
    });

    it('is ready when its database is reachable again, and maintained a minute later', async () => {
      await service.run('docker compose start postgres');
      await service.run('docker compose up --detach --no-deps --no-recreate assent');
      await expect.poll(() => check('assent assent-health ready')).toBe(0);
      await expect.poll(isMaintained, { timeout: 90_000, interval: 1000 }).toBe(0);
    });

    it('stops with exit code 0, as PostgreSQL does', async () => {
      await service.run('docker compose stop assent postgres');
      expect((await service.inspect('assent')).State.ExitCode).toBe(0);
      expect((await service.inspect('postgres')).State.ExitCode).toBe(0);
    });
  });

  describe('two replicas', () => {
    let service: Service;
    let folder: string;
    let baseUrl: string;
    let stream: Load;

    /** As an operator puts it there: another file under the same name. */
    const putCertificate = () => {
      const tls = path.join(folder, 'tls');
      const names = 'subjectAltName=DNS:localhost';
      const [key = '', certificate = ''] = makeCertificate(engine.folder, 'proxy', 'localhost', names);
      fs.mkdirSync(tls, { recursive: true });
      fs.writeFileSync(path.join(tls, 'next.pem'), certificate + key);
      fs.renameSync(path.join(tls, 'next.pem'), path.join(tls, 'assent.pem'));
    };

    const seenCertificate = async () => {
      const port = Number(new URL(baseUrl).port);
      const socket = connect({ port, host: 'localhost', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };

    const revisionOf = async (name: string) => (await service.inspect(name)).Config.Labels[REVISION];

    beforeAll(async () => {
      folder = path.join(checkout, 'deploy/compose');
      const [port, plainPort] = [await freePort(), await freePort()];
      baseUrl = `https://localhost:${port}`;
      putCertificate();
      const settings = [`BASE_URL=${baseUrl}`, `SECRETS='${ODD} and more than 32 letters'`];
      const passwords = [`POSTGRES_PASSWORD='owner ${ODD}'`, `SERVER_PASSWORD='server ${ODD}'`];
      fs.writeFileSync(path.join(folder, '.env'), [...settings, ...passwords, ''].join('\n'));
      const ports = `["127.0.0.1:${plainPort}:80", "127.0.0.1:${port}:443"]`;
      const proxy = `  proxy: { ports: !override ${ports} }\n`;
      service = new Service(engine, folder, builtHere('migrate', 'one', 'two', 'notify', 'maintain') + proxy);
      await service.run('docker compose build && docker compose up --detach --wait');
      stream = startStream(baseUrl);
      await stream.answered(20);
    });

    afterEach(async () => {
      await stream.answered(20);
      expect(stream.failures).toEqual({});
    });

    afterAll(async () => {
      await stream?.stop();
      await service?.run('docker compose down --volumes --timeout 1');
    });

    it('run in read-only containers without privileges, and are healthy when ready', async () => {
      for (const name of ['one', 'two', 'notify', 'maintain', 'migrate']) {
        const { Config, HostConfig } = await service.inspect(name);
        expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'], Init: true });
        expect(HostConfig.LogConfig.Config).toEqual(LOG_BOUNDS);
        if (name === 'one' || name === 'two')
          expect(Config.Healthcheck.Test).toEqual(['CMD', 'assent-health', 'ready']);
      }
    });

    it('stay available while their proxy loads a new certificate', async () => {
      const before = await seenCertificate();
      putCertificate();
      await service.run(block('USR2'));
      await expect.poll(seenCertificate).not.toBe(before);
    });

    it('stay available while they switch to a new version with a slow migration', async () => {
      addMigration(checkout, 'slow', SLOW);
      service.variables.REVISION = 'second';
      await service.run(block('build\ndocker compose run'));
      await service.run(block('--wait two'));
      expect(await revisionOf('one')).toBe('second');
      expect(await revisionOf('two')).toBe('second');
    });

    it('keep their version after a failed migration, and can be stopped and started', async () => {
      const migration = addMigration(checkout, 'failing', 'select 1 / 0');
      service.variables.REVISION = 'third';
      const failed = await service.try(block('build\ndocker compose run'));
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain('division by zero');
      await service.run('docker compose stop two');
      await service.run(block('--no-recreate'));
      expect(await revisionOf('two')).toBe('second');
      fs.rmSync(migration);
    });
  });
});
