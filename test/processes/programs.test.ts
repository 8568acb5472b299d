import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as cheerio from 'cheerio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { obtainCode } from '../support/flow.ts';
import { makeDataDir, removeDataDir } from '../support/folder.ts';
import { ledger } from '../support/ledger.ts';
import { Player } from '../support/playground.ts';
import { PATH } from '../support/program.ts';
import { credentials, freePair, startTrial } from '../support/trial.ts';

// The programs that the demo shows beside its messages, copied and run with the credentials of an application of one's own.

const DATA_DIR = makeDataDir();
afterAll(() => removeDataDir(DATA_DIR));
const server = await startTrial({ PORT: String(await freePair()), DATA_DIR });
afterAll(() => server.stop());
const trial = credentials(server);

const REDIRECT_URI = 'http://localhost:8080/back';
const GO_IMPORTS = '"fmt"; "io"; "log"; "net/http"; "net/url"; "os"; "strings"'.replaceAll(' ', '\n');
const inGo = (text: string) =>
  `package main\nimport (\n${GO_IMPORTS.replaceAll(';', '')}\n)\nfunc main() {\n${text}\n}\n`;

/** How each is run, and a command that succeeds where it can be. */
const LANGUAGES = {
  curl: { file: 'run.sh', run: ['bash'], check: ['curl', '--version'] },
  'Node.js': { file: 'run.mjs', run: [process.execPath], check: [process.execPath, '--version'] },
  Python: { file: 'run.py', run: ['python3'], check: ['python3', '-c', 'import requests'] },
  PHP: { file: 'run.php', run: ['php'], check: ['php', '-r', 'curl_init();'] },
  Go: { file: 'run.go', run: ['go', 'run'], check: ['go', 'version'] },
} as const;
type Language = keyof typeof LANGUAGES;

/** By the title of the message: the text behind each tab. */
let programs: Map<string, Map<string, string>>;
const own: Record<string, string> = {};

beforeAll(async () => {
  const person = new Player(trial, server.baseUrl);
  await person.connect('account-info');
  await person.press('/introspect');
  await person.press('/give-back');
  const story = cheerio.load((await person.shop.get('/story')).body);
  programs = new Map(
    story('.message')
      .toArray()
      .map((message) => {
        const tabs = story(message).find('.tabs label').toArray();
        const texts = tabs.map(
          (tab) => [story(tab).text().trim(), story(tab).next().find('pre').text()] as const,
        );
        return [story(message).find('h2').text().replace(/^\d+ /, ''), new Map(texts)];
      }),
  );
  await person.shop.post('/register', { name: 'My Shop', redirect_uri: REDIRECT_URI });
  const home = cheerio.load((await person.shop.get('/')).body);
  const [, CLIENT_ID = '', CLIENT_SECRET = ''] = home('#own dd code')
    .toArray()
    .map((code) => home(code).text());
  const { resource } = JSON.parse(readFileSync(join(DATA_DIR, 'demo.json'), 'utf8'));
  Object.assign(own, {
    CLIENT_ID,
    CLIENT_SECRET,
    REDIRECT_URI,
    RESOURCE_ID: resource.resourceId,
    RESOURCE_SECRET: resource.resourceSecret,
  });
  ledger.note('client secret', CLIENT_SECRET);
});

/** @returns what the program prints */
async function run(language: Language, title: string, variables: Record<string, string>): Promise<string> {
  const { file, run } = LANGUAGES[language];
  const text = programs.get(title)?.get(language) ?? '';
  const path = join(DATA_DIR, file);
  writeFileSync(path, language === 'Go' ? inGo(text) : text);
  const [command = '', ...args] = run;
  const env = { ...process.env, PATH, ...own, ...variables };
  return (await promisify(execFile)(command, [...args, path], { env })).stdout;
}

async function newCode(CODE_VERIFIER: string): Promise<string> {
  const code_challenge = createHash('sha256').update(CODE_VERIFIER).digest('base64url');
  const fields = {
    client_id: own.CLIENT_ID ?? '',
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'account-info',
    code_challenge,
    code_challenge_method: 'S256',
  };
  const { login, password, payment } = trial;
  const user = { login, password, paymentPassword: payment } as Parameters<typeof obtainCode>[2];
  return obtainCode(new Agent(server.baseUrl), fields, user);
}

for (const language of Object.keys(LANGUAGES) as Language[]) {
  const [command, ...args] = LANGUAGES[language].check;
  const isInstalled = spawnSync(command, args, { env: { ...process.env, PATH } }).status === 0;
  describe.skipIf(!isInstalled)(
    `a program in ${language}${isInstalled ? '' : ', which is not installed here'}`,
    () => {
      it('exchanges a code, asks what the token allows, and gives it back', {
        timeout: 600_000,
      }, async () => {
        // The first run may compile Go's library, which takes longer than a code lives.
        expect(await run(language, 'What the token allows', { TOKEN: 'none' })).toContain('"active":false');
        const CODE_VERIFIER = randomBytes(32).toString('base64url');
        const CODE = await newCode(CODE_VERIFIER);
        const exchanged = await run(language, 'The exchange: a token for the code', { CODE, CODE_VERIFIER });
        expect(exchanged).toMatch(/\b200\b/);
        const [, TOKEN = ''] = /"access_token":"(assent_at_[\w-]+)"/.exec(exchanged) ?? [];
        ledger.note('access token', TOKEN);
        expect(await run(language, 'What the token allows', { TOKEN })).toContain('"active":true');
        expect(await run(language, 'The shop gives the token back', { TOKEN })).toMatch(/\b200\b/);
        expect(await run(language, 'What the token allows', { TOKEN })).toContain('"active":false');
      });
    },
  );
}

it('what a browser sends has no program', () => {
  expect([...(programs.get('The request') ?? new Map()).keys()]).toEqual(['HTTP']);
});
