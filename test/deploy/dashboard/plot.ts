/** A series: its name, and points from 0 to 1 in time. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [at: number, value: number])[];
}

const COLOURS = [
  '#3274d9',
  '#56a64b',
  '#e0752d',
  '#a352cc',
  '#e02f44',
  '#1f9e9e',
  '#b8960c',
  '#7a5c3e',
  '#5f6d7a',
  '#d44a97',
  '#2f4b7c',
  '#8ab8ff',
];
const LEFT = 68;

/** Draws lines, one above the other when they are stacked, with an axis and a legend. */
export function plot(
  given: readonly Line[],
  { width, height }: { readonly width: number; readonly height: number },
  stacked: boolean,
  format: (value: number) => string,
): string {
  const lines = stacked ? stack(given) : given;
  const top = niceTop(Math.max(0, ...lines.flatMap(({ points }) => points.map(([, value]) => value))));
  const x = (at: number) => (LEFT + at * (width - LEFT - 4)).toFixed(1);
  const y = (value: number) => (height - 6 - (value / top) * (height - 14)).toFixed(1);
  const axis = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * top);
    return `<path d="M${LEFT} ${at}H${width}" stroke="#e4e7e7"/><text x="${LEFT - 4}" y="${Number(at) + 3}" text-anchor="end">${format(part * top)}</text>`;
  });
  const drawn = lines.map(({ points }, index) => {
    const path = points.map(([at, value]) => `${x(at)} ${y(value)}`).join('L');
    const line = `<path d="M${path}" fill="none" stroke="${colourOf(index)}" stroke-width="1.5"/>`;
    if (!stacked) return line;
    const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0];
    const area = `M${path}L${x(last)} ${y(0)}L${x(first)} ${y(0)}Z`;
    return `<path d="${area}" fill="color-mix(in srgb, ${colourOf(index)} 25%, white)"/>${line}`;
  });
  if (stacked) drawn.reverse(); // each covers the area of those above it
  const legend = given.map(
    ({ name }, index) => `<li><i style="background:${colourOf(index)}"></i>${name || 'all'}</li>`,
  );
  const none =
    given.length === 0 ? `<text x="${width / 2}" y="${height / 2}" text-anchor="middle">none</text>` : '';
  return `<svg width="${width}" height="${height}">${axis.join('')}${drawn.join('')}${none}</svg><ul>${legend.join('')}</ul>`;
}

const colourOf = (index: number) => COLOURS[index % COLOURS.length];

/** Adds to each line those before it. */
function stack(lines: readonly Line[]): Line[] {
  const sums = new Map<number, number>();
  return lines.map(({ name, points }) => ({
    name,
    points: points.map(([at, value]) => {
      const sum = (sums.get(at) ?? 0) + value;
      sums.set(at, sum);
      return [at, sum] as const;
    }),
  }));
}

/** The next of 1, 2, 5, 10 … above a value. */
function niceTop(value: number): number {
  if (value === 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * unit >= value) ?? 10) * unit;
}
