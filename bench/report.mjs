const US_PER_SECOND = 1_000_000;

const COLUMNS = [
  '',
  '1/s',
  'p50 ms',
  'p99 ms',
  'p99.9 ms',
  'errors',
  'server cpu',
  'pg cpu',
  'load cpu',
  'server µs',
  'server MB',
  'pg MB',
  'load MB',
];

/**
 * @typedef {import('./rounds.mjs').Result} Result
 * @typedef {import('./settings.mjs').Settings} Settings
 * @typedef {ReturnType<typeof import('./targets.mjs').judge>[number]} Judgement
 *
 * @typedef {object} Report
 * @property {Awaited<ReturnType<typeof import('./machine.mjs').describeMachine>>} machine
 * @property {Settings} settings
 * @property {Record<string, Result>} lines
 * @property {Judgement[]} targets
 * @property {string[]} notes
 */

/** The whole report as text. @param {Report} report */
export function printReport({ machine, settings, lines, targets, notes }) {
  return [
    describe(machine),
    settings.quick ? QUICK_NOTE(settings) : '',
    table([COLUMNS, ...Object.entries(lines).map(row)]),
    NOTES,
    table([['target', 'figures', 'measured', 'wanted', ''], ...judged(settings, targets).map(verdict)]),
    ...firstErrors(lines),
    ...notes,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const NOTES =
  'cpu: cores used on average; server µs: of them, for each answer. The load shares the cores with what it measures. Floor: logging off; Assent: log level info.';
/** @param {Settings} settings */
const QUICK_NOTE = ({ growth, soak }) =>
  `Short form: few seconds each, growth of ${growth.figures.join(', ')} up to ${growth.sizes.at(-1)} grants, a soak of ${soak.all} exchanges.`;

/** @param {Report['machine']} machine */
function describe({ postgres, ...machine }) {
  const list = (/** @type {object} */ entries) =>
    Object.entries(entries)
      .map(([name, value]) => `${name} ${value}`)
      .join(' · ');
  return `${list(machine)}\nPostgreSQL: ${list(postgres)}`;
}

/** @param {[name: string, line: Result]} entry */
function row([name, line]) {
  const { cpu = {}, memory = {} } = line;
  const rate = line.seconds === undefined ? whole(line.perSecond) : `${line.seconds.toFixed(2)} s`;
  const latencies = [line.p50, line.p99, line.p999].map((value) => fixed(value));
  const used = [cpu.server, cpu.postgres, cpu.load].map((value) => fixed(value));
  const microseconds = Number.isFinite(cpu.server) ? (cpu.server / line.perSecond) * US_PER_SECOND : null;
  const kept = [memory.server, memory.postgres, memory.load].map((value) => whole(value?.now));
  return [name, rate, ...latencies, line.errors ?? '', ...used, whole(microseconds), ...kept];
}

/** @param {Record<string, Result>} lines */
function firstErrors(lines) {
  const faulty = Object.entries(lines).filter(([, { firstError }]) => firstError);
  return faulty.map(([name, { firstError }]) => `The first error of ${name}: ${firstError}`);
}

/** With `--only` or `--against` most targets are not measured, on purpose. @param {Settings} settings @param {Judgement[]} targets */
function judged({ only, against }, targets) {
  return only === null && against.length === 0 ? targets : targets.filter(({ value }) => value !== null);
}

/** @param {Judgement} judgement */
function verdict({ name, figures, value, target, met }) {
  if (value === null || figures === null) return [name, '', 'not measured', target, ''];
  return [name, figures.map(short).join(' / '), value.toFixed(2), target, met ? 'met' : 'MISSED'];
}

/** @param {number | null | undefined} value */
const fixed = (value) => (isNumber(value) ? value.toFixed(2) : '');
/** @param {number | null} value of a line without answers: null */
const short = (value) => ((value ?? 0) < 1_000 ? fixed(value) : whole(value));
/** @param {number | null | undefined} value */
const whole = (value) => (isNumber(value) ? String(Math.round(value)) : '');
/** @param {number | null | undefined} value @returns {value is number} */
const isNumber = (value) => Number.isFinite(value);

/** @param {unknown[][]} rows */
export function table(rows) {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => String(cells[column]).length)));
  const pad = (/** @type {unknown} */ cell, /** @type {number} */ column) =>
    column === 0 ? String(cell).padEnd(widths[0] ?? 0) : String(cell).padStart(widths[column] ?? 0);
  return rows.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}
