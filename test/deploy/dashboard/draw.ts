import { readFileSync } from 'node:fs';
import { launchChromium } from '../../support/chromium.ts';
import { type Line, plot } from './plot.ts';

interface Panel {
  readonly type: 'row' | 'stat' | 'timeseries';
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly custom?: { readonly stacking: { readonly mode: string } };
    };
  };
  readonly options?: { readonly textMode?: string };
}

const { panels } = JSON.parse(
  readFileSync(new URL('../../../deploy/grafana/assent.json', import.meta.url), 'utf8'),
) as { panels: Panel[] };

const [COLUMN, ROW, STEP_SECONDS] = [60, 32, 2];

/** Draws the panels of the Grafana dashboard from its own queries. @param seconds up to now */
export async function drawDashboard(prometheus: string, seconds: number, file: string): Promise<void> {
  const end = Math.floor(Date.now() / 1000);
  const drawn: string[] = [];
  for (const panel of panels) {
    const { x, y, w, h } = panel.gridPos;
    const place = `left:${x * COLUMN}px;top:${y * ROW}px;width:${w * COLUMN - 8}px;height:${h * ROW - 8}px`;
    const lines = await ask(prometheus, panel, end - seconds, end);
    drawn.push(
      `<div class="${panel.type}" style="${place}"><h2>${panel.title}</h2>${contentOf(panel, lines)}</div>`,
    );
  }
  const height = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) * ROW;
  const browser = await launchChromium();
  const page = await browser.newPage({ viewport: { width: 24 * COLUMN + 8, height: height + 8 } });
  await page.setContent(`<style>${STYLE}</style>${drawn.join('')}`);
  await page.screenshot({ path: file });
  await browser.close();
}

async function ask(prometheus: string, { targets = [] }: Panel, start: number, end: number): Promise<Line[]> {
  const lines: Line[] = [];
  for (const { expr, legendFormat } of targets) {
    const query = expr.replaceAll('$instance', '.+');
    const asked = new URLSearchParams({ query, start: `${start}`, end: `${end}`, step: `${STEP_SECONDS}` });
    const answer = await fetch(`${prometheus}/api/v1/query_range?${asked}`);
    const { data } = (await answer.json()) as { data: { result: Found[] } };
    for (const { metric, values } of data.result) {
      const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '');
      const points = values.map(([at, value]) => [(at - start) / (end - start), Number(value)] as const);
      lines.push({ name, points: points.filter(([, value]) => Number.isFinite(value)) });
    }
  }
  return lines.filter(({ points }) => points.length > 0);
}

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: string])[];
}

function contentOf({ type, fieldConfig, gridPos, options }: Panel, lines: readonly Line[]): string {
  if (type === 'row' || fieldConfig === undefined) return '';
  const { unit, custom } = fieldConfig.defaults;
  if (type === 'stat') {
    const [last] = lines[0]?.points.slice(-1) ?? [];
    const value = options?.textMode === 'name' ? lines[0]?.name : last && format(last[1], unit);
    return `<b>${value ?? 'no data'}</b>`;
  }
  const size = { width: gridPos.w * COLUMN - 32, height: gridPos.h * ROW - 100 };
  return plot(lines, size, custom?.stacking.mode === 'normal', (value) => format(value, unit));
}

/** A number in the unit that Grafana would show it in. */
function format(value: number, unit: string): string {
  if (unit === 'percentunit') return `${(value * 100).toFixed(2)} %`;
  if (unit === 'bytes') return `${Math.round(value / 1024 / 1024)} MiB`;
  if (unit === 's')
    return value < 1 ? `${Number((value * 1000).toPrecision(2))} ms` : `${value.toPrecision(2)} s`;
  const rate = { reqps: ' req/s', ops: '/s' }[unit] ?? '';
  return `${Number(value.toPrecision(3))}${rate}`;
}

const STYLE = `
body { margin: 0; background: #f4f5f5; font: 12px "Open Sans", "DejaVu Sans", sans-serif; color: #24292e }
div { position: absolute; margin: 8px 0 0 8px; box-sizing: border-box }
.stat, .timeseries { background: white; border: 1px solid #d5d8db; border-radius: 3px; padding: 4px 8px }
h2 { font-size: 13px; font-weight: 600; margin: 2px 0 4px } .row h2 { margin: 2px 0; font-size: 14px }
b { font-size: 30px; font-weight: 600; display: block; text-align: center; margin-top: 18px; color: #1f7a3d }
ul { list-style: none; margin: 2px 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0 12px; max-height: 48px; overflow: hidden; font-size: 11px }
i { display: inline-block; width: 12px; height: 3px; margin: 0 4px 3px 0 } svg text { font-size: 10px; fill: #5a6066 }`;
