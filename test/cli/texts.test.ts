import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { markLanguages } from '../../src/languages/foreign.ts';
import { readFile } from '../support/process/folder.ts';
import { runAssent } from '../support/process/process.ts';
import { inArabic, pseudoTexts } from '../support/pseudoLanguage.ts';

// Translations in files of an operator's: the commands about them, and the start that reads them.

const parent = mkdtempSync(join(tmpdir(), 'assent-texts-'));

/** A folder with files by name. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(parent, 'texts-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const texts = async (...args: string[]) => runAssent(['texts', ...args], {});
const check = async (folder: string) => {
  const { code, stdout } = await texts('check', folder, '--json');
  return { code, ...JSON.parse(stdout) };
};

describe('assent texts new', () => {
  it('writes a file that is valid, in English, with the plurals of its language', async () => {
    const folder = folderOf({});
    expect((await texts('new', 'ar', folder)).code).toBe(0);
    const { code, languages } = await check(folder);
    expect([code, languages.length, languages[0].tag]).toEqual([0, 1, 'ar']);
    expect(languages[0].in_english.length).toBe(languages[0].texts - 1); // its own name
    const { wait, ownName } = JSON.parse(readFileSync(join(folder, 'ar.json'), 'utf8'));
    expect(ownName).toBe('العربية');
    for (const category of ['zero', 'one', 'two', 'few', 'many', 'other'])
      expect(wait.seconds).toContain(` ${category} {`);
  });

  it.each(['ja', 'fr', 'ru-KZ'])('writes what the check accepts: %s', async (tag) => {
    const folder = join(folderOf({}), 'made');
    await texts('new', tag, folder);
    expect(await check(folder)).toMatchObject({ code: 0, faults: [] });
  });

  it('overwrites no file', async () => {
    const folder = folderOf({ 'de.json': 'mine' });
    const { code, stderr } = await texts('new', 'de', folder);
    expect([code, stderr]).toEqual([
      1,
      `can’t write ${join(folder, 'de.json')}: it exists, and is not overwritten\n`,
    ]);
    expect(readFileSync(join(folder, 'de.json'), 'utf8')).toBe('mine');
  });

  it.each(['english', 'en_US', 'x-klingon', '../de', 'ru'])('refuses %s', async (tag) => {
    const { code, stderr } = await texts('new', tag, folderOf({}));
    expect([code, stderr]).toEqual([
      2,
      `${tag} is not the tag, such as pt-BR, of a language that is not built in\n`,
    ]);
  });
});

describe('assent texts proxy', () => {
  it('writes the page that deploy/proxy/ has', async () => {
    const { code, stdout } = await texts('proxy');
    expect([code, stdout]).toEqual([0, readFile('deploy/proxy/429.html')]);
  });

  it('writes it in the languages of an operator, each with its direction, and in English where one lacks it', async () => {
    const folder = folderOf({
      'ar.json': pseudoTexts('ar', inArabic),
      'de.json': '{"fallback":"en","ownName":"Deutsch"}',
    });
    const { stdout } = await runAssent(['texts', 'proxy'], { TEXTS: folder, LANGUAGES: 'ar,de' });
    const title = `${inArabic('Too')} ${inArabic('many')} ${inArabic('requests')}`;
    expect(stdout).toContain(`<html lang="ar" dir="rtl">`);
    expect(stdout).toContain(`<title>${title}</title>`);
    expect(stdout).toContain('<p lang="de" dir="ltr"><span lang="en" dir="ltr">Too many requests come');
  });

  it('says which language it can’t write', async () => {
    const { code, stderr } = await runAssent(['texts', 'proxy'], { LANGUAGES: 'tr' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('must have tr.json, since LANGUAGES has tr')]);
  });
});

describe('a folder of texts', () => {
  it('is complete if each text is there', async () => {
    const folder = folderOf({ 'ar.json': pseudoTexts('ar', inArabic), 'notes.txt': 'not read' });
    const { stdout } = await texts('check', folder);
    expect(stdout).toBe('ar: complete\n');
    const { languages, warnings } = readConfig({ TEXTS: folder, LANGUAGES: 'ar,en', DEMO: 'off' });
    expect(languages.all.map(({ tag }) => tag)).toEqual(['ar', 'en']);
    expect(languages.preferred('fr').tag).toBe('ar');
    expect(warnings).toEqual([
      'BRAND lacks texts in ar: their pages show them in another language',
      'DIRECTORY lacks texts in ar: their pages show them in another language',
    ]);
  });

  it('with faults stops the start, which names each, as the check does', async () => {
    const folder = folderOf({
      'pt-BR.json': '\ufeff{"fallback":"en","ownName":"x","signIn":{"title":"{nmae}","button":""}}',
      'tr.json': '{',
    });
    expect(await check(folder)).toEqual({
      code: 1,
      languages: [],
      faults: [
        expect.stringContaining('tr.json: is not JSON: '),
        `${folder}: pt-BR.json: signIn.title must be a text with {service}`,
        `${folder}: pt-BR.json: signIn.button must not be empty`,
      ],
    });
    const problems = problemsOf({ TEXTS: folder });
    expect(problems).toHaveLength(3);
    expect(problems[1]).toBe(
      `TEXTS ${folder}: pt-BR.json: signIn.title must be a text with {service}; see docs/operate/configuration.md#texts.`,
    );
  });

  it('counts built-in English texts as English where the operator has other ones', async () => {
    const pt = folderOf({});
    await texts('new', 'pt', pt);
    writeFileSync(join(pt, 'en.json'), '{"signIn":{"button":"Log in"}}');
    const { languages } = await check(pt);
    expect(languages[1].in_english).toContain('signIn.button');
    const { languages: offered } = readConfig({ DEMO: 'off', TEXTS: pt, LANGUAGES: 'pt' });
    expect(markLanguages(offered.all[0]?.texts.signIn.button ?? '')).toContain('>Log in<');
  });

  it('with hundreds of faults shows one screen of them at the start', () => {
    const problems = problemsOf({ TEXTS: folderOf({ 'de.json': '{}' }) });
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatch(/has \d{3} more mistakes/);
  });

  it.each([
    [
      { LANGUAGES: 'tr,en' },
      'TEXTS: must have tr.json, since LANGUAGES has tr; see docs/operate/configuration.md#texts.',
    ],
    [{ LANGUAGES: 'english' }, 'LANGUAGES must be language tags such as pt-BR,en, separated by commas.'],
    [{ LANGUAGES: 'en,en' }, 'LANGUAGES must be language tags such as pt-BR,en, separated by commas.'],
    [
      { TEXTS: '/nowhere' },
      "TEXTS /nowhere: can't be read: ENOENT; see docs/operate/configuration.md#texts.",
    ],
  ])('or languages that can’t be offered stop the start: %j', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  it('is read from languages to their regions, whatever the order of the files', async () => {
    const italian = JSON.stringify({ ...JSON.parse(pseudoTexts('it', inArabic)), currency: 'symbol' });
    const folder = folderOf({ 'it.json': italian, 'it-CH.json': '{"ownName":"Svizzera"}' });
    expect(await check(folder)).toMatchObject({ code: 0, faults: [] });
    const { languages } = readConfig({ DEMO: 'off', TEXTS: folder, LANGUAGES: 'it-CH' });
    const { formats, signIn } = languages.find('it-CH')?.texts ?? {};
    expect([formats?.amount({ sum: '3000', currency: 'EUR' }), signIn?.button]).toEqual([
      expect.stringContaining('€'),
      `${inArabic('Sign')} ${inArabic('in')}`,
    ]);
  });

  it('must be in UTF-8, and names the file that is not', () => {
    const folder = folderOf({});
    writeFileSync(join(folder, 'pt-BR.json'), Buffer.from('{"ownName":"portugu\xeas"}', 'latin1'));
    expect(problemsOf({ TEXTS: folder })[0]).toContain(`TEXTS ${folder}: pt-BR.json is not in UTF-8`);
  });

  it('must not be empty', () => {
    const folder = join(parent, 'empty');
    mkdirSync(folder);
    expect(problemsOf({ TEXTS: folder })[0]).toContain('has no file such as pt-BR.json');
  });
});

function problemsOf(environment: Readonly<Record<string, string>>): string[] {
  try {
    readConfig({ DEMO: 'off', ...environment });
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}
