import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addCommands } from '../../src/cli/commands.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { COMMANDS } from '../../src/cli/table.ts';
import { AUDIT_KINDS } from '../../src/store/common/auditEvents.ts';
import { anchorsOf, book, documents, files, find, linksOf, made, read } from './checkout.ts';
import { countWords, PEOPLE, sentencesOf } from './prose.ts';

const KILOBYTE = 1000;
const MAX_PAGE = 18 * KILOBYTE;
const MAX_BOOK = 310 * KILOBYTE;
const MAX_WORDS = 30;

/** Pages that name things of the past. */
const HISTORY = ['CHANGELOG.md', 'docs/operate/upgrade.md', 'bench/EXPERIMENTS.md'];

const blocksOf = (document: string) => find(document, /^```\w*\n(.*?)^```$/gms);
const sizeOf = (file: string) => Buffer.byteLength(read(file));
const known = new Set([...files, ...files.map((file) => file.replace(/[^/]+$/, ''))]);
const isFolder = (path: string) => known.has(path) || known.has(`${path}/`);

/** Whether `name` is a file or folder of the checkout, or the end of the path of one. */
const isNamed = (name: string) => files.some((file) => `/${file}/`.includes(`/${name}/`));

describe('the links', () => {
  it.each(documents)('of %s lead to existing files and headings', (document) => {
    const broken = linksOf(document).filter(({ path, heading }) => {
      const isPage = path.endsWith('.md') && files.includes(path);
      return !isFolder(path) || (heading !== '' && isPage && !anchorsOf(path).includes(heading));
    });
    expect(broken).toEqual([]);
  });

  it('lead from README.md to every document and picture', () => {
    const reached = new Set(['README.md']);
    for (const document of reached) {
      if (document.endsWith('.md')) for (const { path } of linksOf(document)) reached.add(path);
    }
    const wanted = [...documents, ...files.filter((file) => /^docs\/.+\./.test(file))];
    expect(wanted.filter((file) => !reached.has(file))).toEqual([]);
  });

  it('lead from docs/README.md directly to every page', () => {
    const listed = linksOf('docs/README.md').map(({ path }) => path);
    expect(book.filter((page) => /^docs\/.+\//.test(page) && !listed.includes(page))).toEqual([]);
  });

  const sources = files.filter((file) =>
    /\.(ts|mjs|sql|eta|ya?ml|service|timer|conf|cfg|css|json)$/.test(file),
  );
  it.each(sources.filter((file) => /\bdocs\/[\w/]+\.md/.test(read(file))))(
    'in messages and comments of %s lead to existing pages and headings',
    (file) => {
      const named = [...read(file).matchAll(/\bdocs\/[\w/]+\.md(?:\\?#([\w-]+))?/g)];
      const broken = named.filter(([whole, heading]) => {
        const page = whole.replace(/\\?#.*/, '');
        if (!files.includes(page)) return true;
        return heading !== undefined && !anchorsOf(page).includes(heading);
      });
      expect(broken.map(([whole]) => whole)).toEqual([]);
    },
  );

  it('in errors about a configuration file lead to an existing section', () => {
    const variables = find('src/config/config.ts', /fromFile\('(\w+)'/g).map((name) => name.toLowerCase());
    expect(anchorsOf('docs/operate/configuration.md')).toEqual(
      expect.arrayContaining(['environment', ...variables]),
    );
  });
});

describe('the names', () => {
  it.each(documents)('of files in %s exist', (document) => {
    const names = /`(?:\.\.\/)*([\w./-]+(?:\.(?:ts|js|mjs|sql|eta|css|md|txt|svg|py|sh)|\/))`/g;
    const missing = find(document, names)
      .map((name) => name.replace(/\/$/, ''))
      .filter((name) => !made.includes(name) && !isNamed(name) && !defined.has(name));
    expect(missing).toEqual([]);
  });

  /** Names that commands and programs in blocks define. */
  const defined = new Set(book.flatMap(blocksOf).flatMap((block) => block.match(/[\w.]+/g) ?? []));
  /** Names of PostgreSQL, of proxies and of libraries. */
  const FOREIGN = [
    ...['pg_amcheck', 'pg_read_all_stats', 'pg_stat_activity', 'target_session_attrs', 'huge_pages'],
    ...['synchronous_standby_names', 'logging_collector', 'keepalive_timeout', 'RawCursor'],
  ];

  // A variable, constant, metric, field, table or function.
  const words = new Set(
    files
      .filter((file) => /\.(ts|mjs|js|sql|json|ya?ml|txt|sh|conf|cfg|service|py)$/.test(file))
      .flatMap((file) => read(file).match(/\w+/g) ?? []),
  );
  it.each(book.filter((page) => !HISTORY.includes(page)))(
    'of variables, metrics, fields and functions in %s occur in the code',
    (page) => {
      const named = find(page, /`([A-Za-z]\w*(?:_\w+|[a-z][A-Z]\w*))`/g);
      const unknown = named.filter(
        (name) => !words.has(name) && !defined.has(name) && !FOREIGN.includes(name),
      );
      expect(unknown).toEqual([]);
    },
  );
});

describe('the reference pages', () => {
  const named = (page: string, names: readonly string[]) =>
    names.filter((name) => !read(page).includes(`\`${name}\``));

  it('name each metric on the monitoring page', () => {
    const metrics = find('src/http/metrics/metrics.ts', /^ +(assent_\w+):/gm);
    expect(metrics.length).toBeGreaterThan(20);
    expect(named('docs/operate/monitoring.md', metrics)).toEqual([]);
  });

  it('name each event of the audit trail, except those of resource servers', () => {
    const own = AUDIT_KINDS.filter((kind) => !kind.startsWith('resource_'));
    expect(named('docs/operate/database.md', own)).toEqual([]);
  });
});

describe('the commands', () => {
  const program = new Command('assent');
  addCommands(program, COMMANDS, {} as Shell);
  const GLOBAL = ['--json', '--help', '--version'];

  /** A problem with a call, such as `client show ID --jsn`; null for none. */
  function problemOf(call: string): string | null {
    const tokens = call.trim().split(/[\s[\]|]+/);
    let command = program;
    for (const token of tokens) {
      const inner = command.commands.find((one) => one.name() === token);
      const isGroup = command.commands.length > 0 && command.name() !== 'audit';
      if (inner === undefined && isGroup && /^[a-z]/.test(token)) return `no command: ${call}`;
      if (inner === undefined) break;
      command = inner;
    }
    const flags = tokens.filter((token) => token.startsWith('--')).map((token) => token.replace(/=.*/, ''));
    const options = [...GLOBAL, ...command.options.map(({ long }) => long)];
    const unknown = flags.filter((flag) => !options.includes(flag));
    return unknown.length > 0 ? `no option ${unknown.join(' ')}: ${call}` : null;
  }

  /** Calls in code: a span that begins with `assent`, and lines of blocks in which one of our commands follows the name. */
  function callsIn(document: string): string[] {
    const spans = find(document, /`(?:npx )?assent ([a-z-][^`]*)`/g);
    const names = program.commands.map((command) => command.name()).join('|');
    const call = new RegExp(`\\b(?:assent|assent\\.js|sbin/assent) ((?:${names})\\b[^|&;#>)'"]*)`, 'g');
    const lines = blocksOf(document).flatMap((block) => [...block.replaceAll(/\\\n\s*/g, '').matchAll(call)]);
    return [...spans, ...lines.map(([, line = '']) => line.split('\n')[0] ?? '')];
  }

  it.each([...book, 'CONTRIBUTING.md', 'deploy/README.md', 'examples/README.md'])(
    'in %s exist, with their options',
    (document) => {
      expect(callsIn(document).map(problemOf).filter(Boolean)).toEqual([]);
    },
  );

  it('are in docs/compare.md, each group by its name', () => {
    const groups = program.commands.map((command) => command.name());
    const compared = read('docs/compare.md');
    expect(groups.filter((group) => !compared.includes(`\`${group}\``))).toEqual([]);
  });

  it('are found more than 100 times in the documentation', () => {
    expect(book.flatMap(callsIn).length).toBeGreaterThan(100);
  });
});

const cellsOf = (row: string) => row.replaceAll(/\\\||`[^`]*`/g, '').split('|').length;

it.each(documents)('the tables of %s have the same number of cells in each row', (document) => {
  const tables = find(document, /((?:^\|.*\|\n)+)/gm).map((table) => table.trim().split('\n'));
  const uneven = tables.flatMap(([head = '', ...rows]) =>
    rows.filter((row) => cellsOf(row) !== cellsOf(head)),
  );
  expect(uneven).toEqual([]);
});

describe('the size', () => {
  it.each(book)(`of %s is at most ${MAX_PAGE / KILOBYTE} KB`, (page) => {
    expect(sizeOf(page)).toBeLessThanOrEqual(MAX_PAGE);
  });

  it(`of all pages together is at most ${MAX_BOOK / KILOBYTE} KB, that of README.md at most 90 lines`, () => {
    const sum = book.reduce((bytes, page) => bytes + sizeOf(page), 0);
    expect(sum).toBeLessThanOrEqual(MAX_BOOK);
    expect(read('README.md').trim().split('\n').length).toBeLessThanOrEqual(90);
  });
});

describe('the sentences', () => {
  it.each([...book, 'CONTRIBUTING.md', 'CHANGELOG.md'])(
    `of %s have at most ${MAX_WORDS} words each`,
    (page) => {
      const sentences = sentencesOf(read(page));
      expect(sentences.length).toBeGreaterThan(5);
      expect(sentences.filter((sentence) => countWords(sentence) > MAX_WORDS)).toEqual([]);
    },
  );

  it.each([...book, 'CONTRIBUTING.md'])('of %s name roles instead of indefinite pronouns', (page) => {
    expect(read(page).match(PEOPLE)).toBeNull();
  });
});
