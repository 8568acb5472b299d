import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as cheerio from 'cheerio';
import { expect, it } from 'vitest';
import { s256 } from '../../src/secrets/digest.ts';
import { obtainCode, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { Player } from '../support/process/playground.ts';
import { PATH } from '../support/process/program.ts';
import { useTrial } from '../support/process/trial.ts';

// The programs that the demo shows beside its messages run with the credentials of a custom application.

const trial = await useTrial();
const user = { ...trial, userId: '', paymentPassword: trial.payment };

const REDIRECT_URI = 'http://localhost:8080/back';
const GO_IMPORTS = '"fmt"; "io"; "log"; "net/http"; "net/url"; "os"; "strings"'.replaceAll(' ', '\n');
const inGo = (text: string) =>
  `package main\nimport (\n${GO_IMPORTS.replaceAll(';', '')}\n)\nfunc main() {\n${text}\n}\n`;

/** The file and command of each, and a command that succeeds if it is installed. */
const LANGUAGES = {
  curl: { file: 'run.sh', run: ['bash'], check: ['curl', '--version'] },
  'Node.js': { file: 'run.mjs', run: [process.execPath], check: ['true'] },
  Python: { file: 'run.py', run: ['python3'], check: ['python3', '-c', 'import requests'] },
  PHP: { file: 'run.php', run: ['php'], check: ['php', '-r', 'curl_init();'] },
  Go: { file: 'run.go', run: ['go', 'run'], check: ['go', 'version'] },
} as const;
type Language = keyof typeof LANGUAGES;

const programs = new Map<string, Map<string, string>>();
const person = new Player(trial, trial.baseUrl);
await person.connect('account-info');
await person.press('/introspect');
await person.press('/give-back');
const story = cheerio.load((await person.shop.get('/story')).body);
for (const message of story('.message').toArray()) {
  const texts = new Map<string, string>();
  for (const tab of story(message).find('.tabs label').toArray())
    texts.set(story(tab).text().trim(), story(tab).next().find('pre').text());
  programs.set(story(message).find('h2').text().replace(/^\d+ /, ''), texts);
}
await person.shop.post('/register', { name: 'My Shop', redirect_uri: REDIRECT_URI });
/** The custom application on the first page: its line, its address, its id and its secret. */
const own = cheerio.load((await person.shop.get('/')).body)('#own dd code');
const [CLIENT_ID, CLIENT_SECRET] = [own.eq(2).text(), own.eq(3).text()];
ledger.note('client secret', CLIENT_SECRET);
const { resource } = JSON.parse(readFileSync(join(trial.dataDir, 'demo.json'), 'utf8'));
const { resourceId: RESOURCE_ID, resourceSecret: RESOURCE_SECRET } = resource;
const credentials = { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, RESOURCE_ID, RESOURCE_SECRET };

async function run(language: Language, title: string, variables: Record<string, string>): Promise<string> {
  const { file, run } = LANGUAGES[language];
  const text = programs.get(title)?.get(language) ?? '';
  const path = join(trial.dataDir, file);
  writeFileSync(path, language === 'Go' ? inGo(text) : text);
  const [command = '', ...args] = run;
  const env = { ...process.env, PATH, ...credentials, ...variables };
  return (await promisify(execFile)(command, [...args, path], { env })).stdout;
}

function newCode(CODE_VERIFIER: string): Promise<string> {
  const client = { clientId: CLIENT_ID, clientSecret: null, redirectUri: REDIRECT_URI };
  const challenge = { code_challenge: s256(CODE_VERIFIER), code_challenge_method: 'S256' };
  return obtainCode(new Agent(trial.baseUrl), requestOf(client, challenge), user);
}

for (const language of Object.keys(LANGUAGES) as Language[]) {
  const [command, ...args] = LANGUAGES[language].check;
  const isInstalled = spawnSync(command, args, { env: { ...process.env, PATH } }).status === 0;
  const found = isInstalled ? '' : ' (not installed: skipped)';
  const title = `a program in ${language} exchanges a code, introspects the token, and revokes it${found}`;
  it.skipIf(!isInstalled)(title, { timeout: 600_000 }, async () => {
    const ask = (TOKEN: string) => run(language, 'What the token allows', { TOKEN });
    // The first run may compile Go's library, which takes longer than a code lives.
    expect(await ask('none')).toContain('"active":false');
    const CODE_VERIFIER = newSecret();
    const CODE = await newCode(CODE_VERIFIER);
    const exchanged = await run(language, 'The exchange: a token for the code', { CODE, CODE_VERIFIER });
    expect(exchanged).toMatch(/\b200\b/);
    const [, TOKEN = ''] = /"access_token":"(assent_at_[\w-]+)"/.exec(exchanged) ?? [];
    ledger.note('access token', TOKEN);
    expect(await ask(TOKEN)).toContain('"active":true');
    expect(await run(language, 'The shop gives the token back', { TOKEN })).toMatch(/\b200\b/);
    expect(await ask(TOKEN)).toContain('"active":false');
  });
}

it('the demo has a program in each language for server requests, and none for browser requests', () => {
  const tabsOf = (title: string) => [...(programs.get(title) ?? new Map()).keys()];
  for (const title of ['The exchange: a token for the code', 'What the token allows'])
    expect(tabsOf(title)).toEqual(['HTTP', ...Object.keys(LANGUAGES)]);
  expect(tabsOf('The request')).toEqual(['HTTP']);
});
