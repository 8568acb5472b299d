import { expectSome } from './checkout.mjs';

// Names that documents give in `code`.

/** Pages that name things of the past. */
const HISTORY = ['CHANGELOG.md', 'docs/operate/upgrade.md', 'bench/EXPERIMENTS.md'];

/** Names of PostgreSQL, of proxies and of libraries. */
const FOREIGN = [
  ...['pg_amcheck', 'pg_read_all_stats', 'pg_stat_activity', 'target_session_attrs', 'huge_pages'],
  ...['synchronous_standby_names', 'logging_collector', 'keepalive_timeout', 'RawCursor'],
];

/** Names that commands and programs in blocks define. */
const definedIn = ({ book, find }) =>
  book.flatMap((page) =>
    find(page, /^```\w*\n(.*?)^```$/gms).flatMap(({ text }) => text.match(/[\w.]+/g) ?? []),
  );

/** A file or folder is named by its path, or by the end of it. */
export function findMissingFiles(checkout) {
  const { files, documents, made, find } = checkout;
  const defined = new Set(definedIn(checkout));
  const exists = (name) =>
    made.includes(name) || defined.has(name) || files.some((file) => `/${file}/`.includes(`/${name}/`));
  const names = /`(?:\.\.\/)*([\w./-]+(?:\.(?:ts|js|mjs|sql|eta|css|md|txt|svg|py|sh)|\/))`/g;
  return documents.flatMap((file) =>
    find(file, names)
      .filter(({ text }) => !exists(text.replace(/\/$/, '')))
      .map(({ text, at }) => ({ file, at, says: `no file or folder is named ${text}` })),
  );
}

/** A variable, constant, metric, field, table or function occurs in the code. */
export function findUnknownNames(checkout) {
  const { files, book, read, find } = checkout;
  const code = files.filter((file) => /\.(ts|mjs|js|sql|json|ya?ml|txt|sh|conf|cfg|service|py)$/.test(file));
  const known = new Set([
    ...FOREIGN,
    ...definedIn(checkout),
    ...code.flatMap((file) => read(file).match(/\w+/g) ?? []),
  ]);
  return book
    .filter((page) => !HISTORY.includes(page))
    .flatMap((file) =>
      find(file, /`([A-Za-z]\w*(?:_\w+|[a-z][A-Z]\w*))`/g)
        .filter(({ text }) => !known.has(text))
        .map(({ text, at }) => ({ file, at, says: `nothing in the code is named ${text}` })),
    );
}

const METRICS = 'src/http/metrics/metrics.ts';
const MONITORING = 'docs/operate/monitoring.md';

/** The page on monitoring names every metric. */
export function findUndescribedMetrics({ read, find }) {
  const metrics = find(METRICS, /^ +(assent_\w+):/gm);
  return [
    ...expectSome(metrics, METRICS, 'metric'),
    ...metrics
      .filter(({ text }) => !read(MONITORING).includes(`\`${text}\``))
      .map(({ text, at }) => ({ file: METRICS, at, says: `${MONITORING} does not name ${text}` })),
  ];
}
