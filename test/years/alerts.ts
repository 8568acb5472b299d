import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { readSeries } from '../support/metrics.ts';
import { CHECKOUT, readFile } from '../support/process/folder.ts';
import { versionOf } from '../support/process/program.ts';

const RULES = 'deploy/prometheus/assent.rules.yml';

interface Rule {
  readonly alert?: string;
  readonly expr: string;
}
const { groups } = parse(readFile(RULES)) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert }) => alert ?? []);
const used = new Set(rules.flatMap(({ expr }) => expr.match(/\b(?:assent|nodejs|process)_\w+/g) ?? []));

export const hasPromtool = versionOf(['promtool', '--version']) !== undefined;

/** What Prometheus would have read, in minutes from 0 on. */
export class Scrapes {
  readonly #values = new Map<string, (number | undefined)[]>();
  #minutes = 0;
  readonly #minuteIsScraped = new Set<number>();

  /** @param answers what each server's `/metrics` said, undefined if it didn't */
  add(minute: number, answers: readonly (string | undefined)[]): void {
    this.#minutes = minute + 1;
    this.#minuteIsScraped.add(minute);
    for (const [index, answer] of answers.entries()) {
      const labels = `job="assent", instance="server ${index + 1}"`;
      this.#note(`up{${labels}}`, answer === undefined ? 0 : 1);
      for (const [series, value] of readSeries(answer ?? '')) {
        const [, name = '', own] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
        if (used.has(name)) this.#note(`${name}{${own === undefined ? '' : `${own}, `}${labels}}`, value);
      }
    }
  }

  #note(series: string, value: number): void {
    const values = this.#values.get(series) ?? [];
    values[this.#minutes - 1] = value;
    this.#values.set(series, values);
  }

  /** The alerts that Prometheus' own rule engine fires in one of these minutes. @param folder for its file */
  fired(folder: string): Set<string> {
    const minutes = Array.from({ length: this.#minutes }, (_, minute) => minute);
    const scraped = minutes.filter((minute) => this.#minuteIsScraped.has(minute));
    const input_series = [...this.#values].map(([series, values]) => ({
      series,
      // Nothing has changed since the scrape before.
      values: minutes.map((minute) => values[scraped.findLast((one) => one <= minute) ?? 0] ?? '_').join(' '),
    }));
    const alert_rule_test = alerts.flatMap((alertname) =>
      minutes.map((minute) => ({ eval_time: `${minute}m`, alertname, exp_alerts: [] })),
    );
    const file = join(folder, 'scrapes.yml');
    const tests = [{ interval: '1m', input_series, alert_rule_test }];
    writeFileSync(file, stringify({ rule_files: [join(CHECKOUT, RULES)], evaluation_interval: '1m', tests }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    const fired = [...`${stdout}${stderr}`.matchAll(/alertname: (\w+), time:/g)].map(([, name = '']) => name);
    if ((status === 0) !== (fired.length === 0)) throw new Error(`promtool: ${stdout}${stderr}`);
    return new Set(fired);
  }
}
