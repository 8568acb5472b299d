import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { lint } from '../scripts/lint/rules.mjs';

// `npm run lint:docs` on a small checkout: each rule finds what it is for.

const LINTER = fileURLToPath(new URL('../scripts/lintDocs.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'assent-lint-'));
afterAll(() => rmSync(folder, { recursive: true }));

const introduction = 'Owns a.\nLeaves b.\nStart with c.\n';
const trustPage = (rows: string) => `# Trust\n\n| Attack | Ids | Test |\n|---|---|---|\n${rows}`;
const layers = (rows: string) =>
  `# Architecture\n\n## Layers\n\n| Part | may import |\n|---|---|\n${rows}\n## Words\n`;

const PARTS = ['src/config', 'src/http/metrics', 'src/process', 'src/rules', 'src/store', 'demo'];
const PAGES = [
  ...['develop/architecture.md', 'operate/configuration.md', 'operate/monitoring.md'],
  'trust/vulnerabilities.md',
];
const linksTo = (pages: readonly string[]) => pages.map((page) => `[x](${page})`).join(' ');

const SOUND: Readonly<Record<string, string>> = {
  '.gitignore': 'made/\n',
  'made/wrong.md': '[nothing](nowhere.md)',
  'README.md': '# A\n\n[docs](docs/README.md) [more](CONTRIBUTING.md)\n',
  'CONTRIBUTING.md': `# B\n\n${linksTo(PARTS.map((part) => `${part}/README.md`))}\n`,
  'docs/README.md': `# C\n\n${linksTo(PAGES)}\n`,
  'docs/develop/architecture.md': layers(
    '| `rules/` | nothing |\n| `config/`, `store/` | `rules/` |\n| `http/metrics/` | nothing |\n| `process/` | `rules/` |\n',
  ),
  'docs/operate/configuration.md': '# Configuration\n\n## Environment\n\n## BRAND\n',
  'docs/operate/monitoring.md': '# Monitoring\n\n`assent_good`\n',
  'docs/trust/vulnerabilities.md': trustPage(
    '| It is refused | CVE-2020-1234 Product 2020 | `codes` [codes-1] |\n',
  ),
  'test/codes.test.ts': "it('is refused [codes-1]', () => {});\n",
  'src/config/files.ts': "read('BRAND', readBrand)\n",
  'src/http/metrics/metrics.ts': '  assent_good: 1,\n',
  'src/process/server.ts': 'if (adminPort !== null) await openAdmin();\n',
  'src/rules/a.ts': 'export const a = 1;\n',
  'src/store/b.ts': 'export const ONE_LOCK = 1;\n',
  ...Object.fromEntries(PARTS.map((part) => [`${part}/README.md`, introduction])),
};

function checkout(changes: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(folder, 'checkout-'));
  for (const [file, text] of Object.entries({ ...SOUND, ...changes })) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

function run(root: string) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [LINTER, root], { encoding: 'utf8' });
  return { stdout, stderr, status };
}

const plus = (file: string, text: string) => ({ [file]: `${SOUND[file]}${text}` });

it('finds nothing in a sound checkout', () => {
  expect(run(checkout({}))).toEqual({ stdout: '', stderr: '', status: 0 });
});

it('ends with 1 if it finds more than warnings', () => {
  const root = checkout(plus('CONTRIBUTING.md', '[x](nowhere.md)\n'));
  expect(run(root)).toEqual({
    stdout: 'CONTRIBUTING.md:4  leads nowhere: nowhere.md\n',
    stderr: '',
    status: 1,
  });
});

it.each<[string, Record<string, string>, string[]]>([
  [
    'links to missing pages and headings',
    plus('CONTRIBUTING.md', '[x](nowhere.md) [y](docs/README.md#z)\n'),
    ['CONTRIBUTING.md:4  leads nowhere: nowhere.md', 'CONTRIBUTING.md:4  leads nowhere: docs/README.md#z'],
  ],
  [
    'pages to which no link leads',
    { 'docs/operate/lost.md': '# Lost\n', 'docs/lost.png': '' },
    [
      'docs/operate/lost.md  no document that README.md leads to links to it',
      'docs/lost.png  no document that README.md leads to links to it',
      'docs/operate/lost.md  docs/README.md does not list it',
    ],
  ],
  [
    'messages that name a missing page or heading',
    plus('src/rules/a.ts', '// docs/gone.md and docs/operate/monitoring.md#gone\n'),
    [
      'src/rules/a.ts:2  leads nowhere: docs/gone.md',
      'src/rules/a.ts:2  leads nowhere: docs/operate/monitoring.md#gone',
    ],
  ],
  [
    'files of operators without a section',
    plus('src/config/files.ts', "read('LOGOS', readLogos)\n"),
    ['docs/operate/configuration.md  has no section “logos”'],
  ],
  [
    'names of missing files',
    plus('CONTRIBUTING.md', '`src/gone.ts` and `gone/`\n'),
    [
      'CONTRIBUTING.md:4  no file or folder is named src/gone.ts',
      'CONTRIBUTING.md:4  no file or folder is named gone/',
    ],
  ],
  [
    'names that do not occur in the code',
    plus('README.md', '`MAX_NOTHING`\n'),
    ['README.md:4  nothing in the code is named MAX_NOTHING'],
  ],
  [
    'metrics without a description',
    plus('src/http/metrics/metrics.ts', '  assent_new: 1,\n'),
    ['src/http/metrics/metrics.ts:2  docs/operate/monitoring.md does not name assent_new'],
  ],
  [
    'rows with too few cells',
    plus('README.md', '\n| a | b |\n|---|---|\n| c |\n'),
    ['README.md:7  a row has more or fewer cells than its head'],
  ],
  [
    'unclear words in messages, titles and documents',
    {
      ...plus('README.md', 'Whoever reads.\n'),
      ...plus('src/rules/a.ts', "fail('x is no text'); // nobody\n"),
      ...plus('test/codes.test.ts', "it('allows at most so many', f);\nit('is no longer read', f);\n"),
    },
    [
      'src/rules/a.ts:2  unclear words in a message: is no text',
      'test/codes.test.ts:2  unclear words in a title: so many',
      'README.md:4  “Whoever” where a role is meant',
    ],
  ],
  [
    'imports of higher parts, and cycles',
    {
      ...plus('src/rules/a.ts', "import { b } from '../store/b.ts';\n"),
      ...plus('src/store/b.ts', "import { a } from '../rules/a.ts';\n"),
    },
    [
      'src/rules/a.ts:2  rules may not import src/store/b.ts',
      'src/rules/a.ts  imports itself: src/rules/a.ts > src/store/b.ts > src/rules/a.ts',
    ],
  ],
  [
    'parts that the table of layers lacks, or permits to import higher ones',
    {
      'docs/develop/architecture.md': layers(
        '| `rules/` | `store/` |\n| `store/` | nothing |\n| `config/` | nothing |\n| `process/` | nothing |\n',
      ),
    },
    [
      'src/http/metrics/metrics.ts  docs/develop/architecture.md has no layer http/metrics',
      'docs/develop/architecture.md  rules stands below store, which it may import',
    ],
  ],
  [
    'imports of the demo',
    { 'demo/src/demo.ts': "import { a } from '../../src/rules/a.ts';\n" },
    [
      'demo/src/demo.ts:1  the demo may import nothing but its own files, the types of its texts and the sample client, not src/rules/a.ts',
    ],
  ],
  [
    'what only some files may do',
    {
      ...plus('src/store/b.ts', 'pool.query(sql);\n'),
      'src/rules/a.ts':
        "import { request } from 'node:http';\nimport 'x' from '../admin/y.ts';\nprocess.env.X; pool.query<R>(sql);\n",
      'src/process/server.ts': 'await openAdmin();\n',
    },
    [
      'src/rules/a.ts:2  rules may not import src/admin/y.ts',
      'src/rules/a.ts:3  the environment is read in config.ts only',
      'src/rules/a.ts:2  the operators’ API is imported only on demand',
      'src/rules/a.ts:1  only types of node:http may be imported: other names would load undici on Node 26',
      'src/rules/a.ts:3  the database is used in src/store only',
      'src/store/b.ts:2  the driver’s query() is called by send() only',
      'src/rules/a.ts:1  the rules are pure: they may not import node:http',
      'src/process/server.ts  the operators’ API must be loaded only if ADMIN_PORT is set',
    ],
  ],
  [
    'names and locks that two files have',
    {
      ...plus('src/rules/a.ts', 'const TWO_LOCK = 1;\n'),
      ...plus('src/store/b.ts', 'export type a = 1;\n'),
    },
    [
      'src/store/b.ts:2  src/rules/a.ts exports a too',
      'src/store/b.ts:1  src/rules/a.ts has the advisory lock 1 too',
    ],
  ],
  [
    'folders that are not introduced',
    { 'src/rules/README.md': 'Owns `gone.ts`.\nLeaves b.\n', 'src/new/c.ts': '' },
    [
      'src/new/  has no README.md',
      'src/new/c.ts  docs/develop/architecture.md has no layer new',
      'src/rules/README.md:1  no file or folder is named gone.ts',
      'src/rules/README.md  no line begins with “Start with”',
    ],
  ],
  [
    'tests and ids that do not fit the trust pages',
    {
      'docs/trust/vulnerabilities.md': trustPage(
        [
          '| A | CVE-2020-1234 Product | `codes` [codes-1] |',
          '| B | CVE-2020-1234 Product, GHSA-h29v-hj44-q8cv Product 2026, GHSA-9h33-g3ww-mqff Product | `codes` [codes-9] |',
          '| C | some product | `codes`: a title |\n',
        ].join('\n'),
      ),
      'README.md': `${SOUND['README.md']}See [codes-8].\n`,
      'test/codes.test.ts': "it('x [codes-1]', f);\nit('y [codes-1]', f);\nit('z [codes-2]', f);\n",
    },
    [
      'docs/trust/vulnerabilities.md:6  no title in test/codes.test.ts ends with [codes-9]',
      'docs/trust/vulnerabilities.md:7  a row ends without `file` [id] of its test',
      'README.md:4  no title of a test ends with [codes-8]',
      'test/codes.test.ts:3  no document quotes [codes-2]',
      'test/codes.test.ts:2  another title ends with [codes-1] too',
      'docs/trust/vulnerabilities.md:6  CVE-2020-1234 stands in an earlier row too',
      'docs/trust/vulnerabilities.md:6  not an id and a product, or no year: GHSA-9h33-g3ww-mqff Product',
      'docs/trust/vulnerabilities.md:7  not an id and a product, or no year: some product',
    ],
  ],
  [
    'rules of its own that find nothing to check',
    {
      'docs/trust/vulnerabilities.md': '# Trust\n',
      'test/codes.test.ts': '',
      'src/config/files.ts': '',
      'src/http/metrics/metrics.ts': '',
      'docs/operate/monitoring.md': '',
      'src/store/b.ts': '',
    },
    [
      'src/config/files.ts  the linter finds no variable that names a file here: adapt its rule',
      'src/http/metrics/metrics.ts  the linter finds no metric here: adapt its rule',
      'src/  the linter finds no advisory lock here: adapt its rule',
      'docs/trust/vulnerabilities.md  the linter finds no row with a test here: adapt its rule',
    ],
  ],
])('finds %s', (_what, changes, lines) => {
  expect(lint(checkout(changes)).lines.toSorted()).toEqual(lines.toSorted());
});

it('only warns of sizes and of long sentences', () => {
  const many = Array.from({ length: 15 }, (_, at) => [`src/rules/file${at}.ts`, '']);
  const sentence = Array.from({ length: 31 }, () => 'word').join(' ');
  const root = checkout({
    ...Object.fromEntries(many),
    'src/rules/README.md': introduction.repeat(3),
    'docs/README.md': `${SOUND['docs/README.md']}${'- word\n'.repeat(50_000)}`,
    'README.md': `${SOUND['README.md']}${'\n'.repeat(90)}${sentence}.\n`,
  });
  expect(lint(root).lines).toEqual([
    expect.stringMatching(/^docs\/ {2}warning: all pages have \d+ bytes, more than 320000$/),
    expect.stringMatching(/^docs\/README\.md {2}warning: has \d+ bytes, more than 18000$/),
    `README.md  warning: a sentence has 31 words, more than 30: ${sentence}.`,
    'README.md  warning: has 94 lines, more than 90',
    'src/rules/  warning: has 16 files, more than 14',
    'src/rules/README.md  warning: has 9 lines, more than 8',
  ]);
  expect(run(root).status).toBe(0);
});
