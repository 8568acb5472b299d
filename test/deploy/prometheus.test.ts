import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import dashboard from '../../deploy/grafana/assent.json' with { type: 'json' };
import { saveNotifyCursors, TRAIL } from '../../src/store/operate/notifyCursors.ts';
import { operatorToken } from '../support/admin.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { namesOf, readSeries } from '../support/metrics.ts';
import { CHECKOUT, readFile as read } from '../support/process/folder.ts';
import { versionOf } from '../support/process/program.ts';
import { useServer } from '../support/server.ts';

// The files of deploy/ match the metrics of a running server: a renamed metric would silence its alert unnoticed.

interface Rule {
  readonly expr: string;
  readonly record?: string;
  readonly alert?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
const { groups } = parse(read('deploy/prometheus/assent.rules.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const records = rules.flatMap(({ record }) => record ?? []);
const { panels, annotations } = dashboard;
const shown = [...panels.flatMap(({ targets = [] }) => targets), ...annotations.list];
const expressions = [...rules, ...shown].map(({ expr }) => expr);

const server = await useServer();
const agent = new Agent(server.baseUrl);
await obtainToken(agent, await server.createClient(), await server.createUser());
await agent.get('/nowhere');
// Without any, their gauges are absent.
await operatorToken(server.database.pool, 'pipeline', 'reads', 90);
await saveNotifyCursors(server.database.pool, [{ endpoint: TRAIL, cursor: `1.${Date.now()}000` }]);
const told = (await agent.get('/metrics')).body;
const series = readSeries(told);

function selectorsOf(expr: string): [name: string, matchers: string][] {
  const found = expr.matchAll(/\b((?:assent|nodejs|process)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', matchers = '']) => [name, matchers]);
}

const FROM_PROMETHEUS = ['job', 'instance'];
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;

function matches(one: string, [, label, how, value]: RegExpExecArray): boolean {
  const [, has = ''] = new RegExp(`[{,]${label}="([^"]*)"`).exec(one) ?? [];
  const found = how?.endsWith('~') ? new RegExp(`^(?:${value})$`).test(has) : has === value;
  return one.includes(`${label}=`) && found !== how?.startsWith('!');
}

describe('every query of the rules and the dashboard', () => {
  it.each([...new Set(expressions)])('uses metrics and labels of a running server: %s', (expr) => {
    for (const [name, matchers] of selectorsOf(expr)) {
      const own = [...series.keys()].filter((one) => namesOf(new Map([[one, 0]])).has(name));
      expect(own, name).not.toEqual([]);
      for (const matcher of matchers.matchAll(MATCHER)) {
        if (FROM_PROMETHEUS.includes(matcher[1] ?? '')) continue;
        expect(
          own.some((one) => matches(one, matcher)),
          `${name}{${matcher[0]}}`,
        ).toBe(true);
      }
    }
  });

  it('uses only existing recording rules', () => {
    const used = expressions.flatMap((expr) => expr.match(/\bassent:[\w:]+/g) ?? []);
    expect(used.filter((name) => !records.includes(name))).toEqual([]);
    expect(used.length).toBeGreaterThan(0);
  });
});

describe('every alert', () => {
  const book = read('docs/operate/alerts.md');
  const headings = [...book.matchAll(/^## (\w+)$/gm)].map(([, heading]) => heading);
  const chapter = (name: string) => book.split(`\n## ${name}\n`)[1]?.split(/\n#+ /)[0] ?? '';

  it.each(alerts)('has a severity, a summary and a remedy: $alert', ({ alert = '', labels, annotations }) => {
    expect(['warning', 'critical']).toContain(labels?.severity);
    expect(annotations?.summary).toMatch(/\.$/);
    expect(annotations?.runbook).toBe(`docs/operate/alerts.md#${alert.toLowerCase()}`);
    for (const part of ['Means', 'Users notice', 'Check', 'Do'])
      expect(chapter(alert)).toContain(`**${part}:**`);
  });

  it('is documented and tested', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(headings.filter((heading) => heading?.startsWith('Assent'))).toEqual(names);
    const { tests } = parse(read('deploy/prometheus/assent.rules.test.yml')) as { tests: { name: string }[] };
    expect(tests.map(({ name }) => name).slice(0, names.length)).toEqual(names);
  });
});

/** A query without its selectors, with its record written out: the same in a panel and in an alert. */
function bare(expr: string): string {
  const { record, expr: recorded = '' } =
    rules.find((rule) => rule.record && expr.includes(rule.record)) ?? {};
  const written = record === undefined ? expr : expr.replace(record, recorded);
  return written.replaceAll(/\{[^}]*\}| > 0$/g, '');
}

/** The alerts that compare a query with a number; not with 0, where a line would be the axis. */
const limits = alerts.flatMap(({ alert = '', expr }) => {
  const [, query, limit] = /^(.+) [<>] ([\d.]+)$/s.exec(expr) ?? [];
  return query === undefined || Number(limit) === 0
    ? []
    : { alert, query: bare(query), limit: Number(limit) };
});

type Panel = (typeof panels)[number];

describe('a panel of the dashboard', () => {
  const limitsOf = ({ targets = [] }: Panel) =>
    limits.filter(({ query }) => targets.some(({ expr }) => bare(expr) === query));
  const thresholdsOf = ({ fieldConfig }: Panel) =>
    (fieldConfig?.defaults.thresholds?.steps ?? []).flatMap(({ value }) => value ?? []);
  const ofType = (type: string) => panels.filter((panel) => panel.type === type);

  it.each(ofType('timeseries'))('draws the thresholds of its alerts and no others: $title', (panel) => {
    const isDrawn = panel.fieldConfig?.defaults.custom?.thresholdsStyle?.mode === 'line';
    expect(isDrawn ? thresholdsOf(panel) : []).toEqual(limitsOf(panel).map(({ limit }) => limit));
    for (const { alert } of limitsOf(panel)) expect(panel.description).toContain(alert);
  });
});

const version = versionOf(['promtool', '--version'], /, (.+?) \(/);
const found = version === undefined ? 'promtool is not installed: skipped' : `promtool ${version}`;

describe.skipIf(version === undefined)(`Prometheus’ own tool (${found})`, () => {
  const promtool = (args: string[], input = '') => {
    const options = { cwd: `${CHECKOUT}/deploy/prometheus`, input, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync('promtool', args, options);
    return { status, said: `${stdout}${stderr}` };
  };

  it.each([
    ['the rules', ['check', 'rules', 'assent.rules.yml']],
    ['the tests of the rules', ['test', 'rules', 'assent.rules.test.yml']],
    ['the configuration', ['check', 'config', '--syntax-only', 'prometheus.yml']],
  ])('accepts %s', (_, args) => {
    expect(promtool(args)).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  it('accepts the names and units of the server’s metrics', () => {
    expect(promtool(['check', 'metrics'], told)).toEqual({ status: 0, said: '' });
  });
});
