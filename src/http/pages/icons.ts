// They repeat the adjacent words. All have one stroke weight and one size, in a square of 24.
const SHAPES = {
  spend: 'M3 7h18v10H3z M12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5 M6 12h.01 M18 12h.01',
  right: 'm5 12.5 4.5 4.5L19 7.5',
  ends: 'M5 12h14',
  error: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18 M12 7.5v5.5 M12 16.5h.01',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18 M12 11v5.5 M12 7.5h.01',
  done: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18 m-4 9.5 3 3 5-6',
};

export const ICONS = Object.fromEntries(Object.entries(SHAPES).map(([name, path]) => [name, iconOf(path)]));

function iconOf(path: string): string {
  return `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="${path}"/></svg>`;
}
