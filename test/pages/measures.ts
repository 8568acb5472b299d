// Faults of a page as the browser has laid it out. These functions run inside the page, so each is complete in itself.

/** Elements that stick out of the window, and contents that a box cuts off. */
export function overflowing(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement;
  const name = (element: Element) => element.outerHTML.slice(0, 80).replaceAll(/\s+/g, ' ');
  const isOut = (element: Element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 1 && (left < -0.5 || right > clientWidth + 0.5);
  };
  const elements = [...document.querySelectorAll<HTMLElement>('body *')];
  return [
    ...(scrollWidth > clientWidth ? [`${scrollWidth} px wide in a window of ${clientWidth}`] : []),
    ...elements.filter(isOut).map((element) => `sticks out: ${name(element)}`),
    ...elements
      .filter((element) => getComputedStyle(element).overflowX !== 'visible' && element.localName !== 'input')
      .filter((element) => element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
      .map((element) => `is cut off: ${name(element)}`),
  ];
}

/** Words of ours that go on in the next line without a hyphen. Names and targets are others' words, and may. */
export function brokenWords(): string[] {
  const MAX_CHARACTERS = 24; // a longer one has no place on a small screen, and neither has a long sum with its currency
  const broken: string[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (!text.parentElement?.checkVisibility() || text.parentElement.closest('bdi, code, footer p, style'))
      continue;
    for (const { 0: word, index } of (text.textContent ?? '').matchAll(
      /(?<!\d\u00a0\u200f?\p{L}*)\p{L}+/gu,
    )) {
      if (word.length > MAX_CHARACTERS) continue;
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1)
        broken.push(`breaks the word ${word}: ${text.parentElement.outerHTML.slice(0, 100)}`);
    }
  }
  return broken;
}

/** Links and controls that are smaller than a finger needs (WCAG 2.2, 2.5.8), and main ones under 44 px (2.5.5). */
export function smallTargets(): string[] {
  const [MIN, MIN_OF_MAIN] = [24, 44];
  return [
    ...document.querySelectorAll<HTMLElement>(
      'a, button, input:not([aria-hidden]), summary, select, textarea',
    ),
  ]
    .filter((target) => target.checkVisibility() && target.getAttribute('type') !== 'hidden')
    .flatMap((target) => {
      const { width, height } = target.getBoundingClientRect();
      const min = target.matches('a:not(.button)') ? MIN : MIN_OF_MAIN;
      // Half a pixel is lost where a size in rem meets the grid.
      if (Math.min(width, height) > min - 0.5) return [];
      return [`only ${width} by ${height} px, not ${min}: ${target.outerHTML.slice(0, 80)}`];
    });
}

/** Texts, icons and edges that can't be told from what is behind them, with the colours that are shown now. */
export function unseen(): string[] {
  const [TEXT, SHAPE] = [4.5, 3]; // WCAG 2.2, 1.4.3 and 1.4.11
  type Colour = readonly number[];
  const colourOf = (css: string): Colour => css.match(/[\d.]+/g)?.map(Number) ?? [];
  const luminance = (colour: Colour) => {
    const [red = 0, green = 0, blue = 0] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one: Colour, other: Colour) => {
    const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (lighter + 0.05) / (darker + 0.05);
  };
  const backgrounds = new Map<Element | null, Colour>([[null, [255, 255, 255]]]);
  const behind = (element: Element | null): Colour => {
    const known = backgrounds.get(element);
    if (known !== undefined || element === null) return known ?? [];
    const background = colourOf(getComputedStyle(element).backgroundColor);
    const seen = background[3] === 0 ? behind(element.parentElement) : background;
    backgrounds.set(element, seen);
    return seen;
  };
  const name = (element: Element) => element.outerHTML.slice(0, 80).replaceAll(/\s+/g, ' ');
  const isShown = (element: Element) => element.checkVisibility({ opacityProperty: true });
  const hasText = ({ childNodes }: Element) =>
    [...childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim());
  const all = [...document.querySelectorAll('body, body *:not(style, path, br)')].filter(isShown);

  const texts = all
    .filter((element) => hasText(element) || element.matches('input'))
    .filter((element) => contrast(colourOf(getComputedStyle(element).color), behind(element)) < TEXT)
    .map((element) => `its text is not seen: ${name(element)}`);
  const icons = all
    .filter((element) => element.matches('svg'))
    .filter((icon) => contrast(colourOf(getComputedStyle(icon).color), behind(icon.parentElement)) < SHAPE)
    .map((icon) => `an icon is not seen in ${name(icon.parentElement ?? icon)}`);
  const edges = all
    .filter((element) =>
      element.matches('button:not(.link), .button, input:not([type=hidden], [aria-hidden])'),
    )
    .filter((element) => {
      const { borderTopColor, borderTopStyle, borderTopWidth } = getComputedStyle(element);
      const hasEdge = borderTopStyle === 'solid' && Number.parseFloat(borderTopWidth) >= 1;
      return !hasEdge || contrast(colourOf(borderTopColor), behind(element.parentElement)) < SHAPE;
    })
    .map((element) => `its edge is not seen: ${name(element)}`);
  const links = all
    .filter((element) => element.matches('a:not(.button, [aria-current]), .link:not([aria-current])'))
    .filter((element) => !getComputedStyle(element).textDecorationLine.includes('underline'))
    .map((element) => `it does not look like a link: ${name(element)}`);
  const rings = all
    .filter((element) => element.matches('a, button, input:not([type=hidden], [aria-hidden]), summary'))
    .filter((element) => {
      (element as HTMLElement).focus();
      const { outlineColor, outlineStyle, outlineWidth } = getComputedStyle(element);
      const hasRing = outlineStyle === 'solid' && Number.parseFloat(outlineWidth) >= 2;
      return !hasRing || contrast(colourOf(outlineColor), behind(element.parentElement)) < SHAPE;
    })
    .map((element) => `its focus is not seen: ${name(element)}`);
  return [...texts, ...icons, ...edges, ...links, ...rings];
}

/** Elements that move or could. Changes of colour, opacity and enabled controls are not motion. */
export function moving(): string[] {
  const STILL = /^(opacity|pointer-events|color|background-color|border-\w+-(color|style)|visibility)$/;
  const keyframes = [...document.styleSheets]
    .flatMap(({ cssRules }) => [...cssRules])
    .filter((rule) => rule instanceof CSSKeyframesRule)
    .map(({ name, cssRules }) => {
      const frames = [...cssRules].filter((rule) => rule instanceof CSSKeyframeRule);
      return [name, frames.flatMap(({ style }) => [...style])] as const;
    });
  const properties = new Map(keyframes);
  return [document.documentElement, ...document.querySelectorAll('body, body *')].flatMap((element) => {
    const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
    const names = animationName === 'none' ? [] : animationName.split(', ');
    const moved = names.flatMap((name) => properties.get(name) ?? [name]).filter((name) => !STILL.test(name));
    if (!/^0s(, 0s)*$/.test(transitionDuration)) moved.push('a transition');
    if (scrollBehavior === 'smooth') moved.push('scrolling');
    return moved.map((what) => `moves (${what}): ${element.outerHTML.slice(0, 80)}`);
  });
}
