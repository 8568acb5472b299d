import { describe, expect, it } from 'vitest';
import { FileError } from '../../src/rules/common/operatorFile.ts';
import { checkLogo, MAX_LOGO_BYTES } from '../../src/rules/face/logo.ts';
import { chunk, png, svg } from '../support/pictures.ts';

/** The reason for refusing a picture; undefined if it is accepted. */
function problem(body: Buffer | string): string | undefined {
  try {
    checkLogo(Buffer.from(body));
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(FileError);
    return (error as Error).message;
  }
}

const SVG = 'http://www.w3.org/2000/svg';
const SHAPE = '<rect width="9" height="9"/>';

describe('an SVG logo', () => {
  it.each([
    ['a path', svg()],
    [
      'a BOM, an XML declaration and comments before it',
      `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<!-- by <svg> --><!---->${svg('<title>A &amp; B</title>')}`,
    ],
    ['a script, which does not run in an <img>', svg('<script>alert(1)</script>')],
    ['other namespaces', svg(SHAPE, 'viewBox="0,0,32,32" width="100%" xmlns:serif="http://www.serif.com/"')],
    ['a > in an attribute', svg(SHAPE, 'aria-label="a > b" viewBox="0 0 9 9"')],
    ['stroke-dasharray="none"', svg('<path stroke-dasharray="none" d="M0 0h9"/>')],
    ['attributes in single quotes', `<svg\nviewBox='0 0 9 9' xmlns = '${SVG}' />`],
  ])('is accepted with %s', (_what, body) => {
    expect(problem(body)).toBeUndefined();
  });

  it.each([
    ['', /neither/],
    [`<!DOCTYPE svg [<!ENTITY x "y">]><svg xmlns="${SVG}" viewBox="0 0 1 1">&x;</svg>`, /DOCTYPE/],
    [`<!doctype svg>${svg()}`, /doctype/],
    [svg('<!ENTITY x "y">'), /ENTITY/],
    [`<html xmlns="http://www.w3.org/1999/xhtml">${svg()}</html>`, /neither/],
    [`<!-- ${svg()} -->`, /neither/],
    [svg('<defs><g id="a"/></defs><use href="#a"/>'), /has <use, .+ paths only/],
    [svg('<x:use xmlns:x="http://www.w3.org/2000/svg" href="#a"/>'), /has <x:use/],
    [
      svg('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">Sign in</p></foreignObject>'),
      /foreignObject/,
    ],
    [svg('<a href="https://evil.example/"><path d="M0 0"/></a>'), /has <a/],
    [svg('<g style="filter: blur(9px)"/>'), /has filter:/],
    [svg('<g style="f&#105;lter: blur(9px)"/>'), /has &#/],
    [svg('<style>g { f\\69lter: blur(9px) }</style>'), /has \\/],
    [svg('<path stroke-dasharray="0.001" d="M0 0h99999"/>'), /has stroke-dasharray/],
    [`<svgs xmlns="${SVG}" viewBox="0 0 1 1"/>`, /neither/],
    ['<svg viewBox="0 0 1 1"/>', /needs xmlns=/],
    [svg('', ''), /needs a viewBox/],
    [svg('', 'viewBox="0 0 32"'), /needs a viewBox/],
    [svg('', 'viewBox="0 0 0 0"'), /needs a viewBox/],
    [svg('', 'viewBox="0 0 1e9 1e9"'), /needs a viewBox/],
    [svg('', 'viewBox="0 0 32 64"'), /square/],
    [Buffer.from(svg().toString(), 'utf16le'), /neither/],
    [Buffer.concat([svg(), Buffer.from([0xff])]), /neither a PNG nor an SVG/],
    ['GIF89a', /neither/],
    [svg(`<desc>${'x'.repeat(MAX_LOGO_BYTES)}</desc>`), /bytes, more than the maximum of 65536/],
  ])('is refused: %s', (body, why) => {
    expect(problem(body)).toMatch(why);
  });

  it.each(['<!--', '<!---->', '<?', '<?>', '<svg ', ' '])(
    'is refused in linear time if it only repeats %j',
    (piece) => {
      expect(problem(piece.repeat(MAX_LOGO_BYTES / piece.length))).toMatch(/neither/);
    },
  );
});

describe('a PNG logo', () => {
  it.each([
    [16, 16],
    [1024, 1024],
    [300, 100],
  ])('is accepted with %i by %i pixels', (width, height) => {
    expect(checkLogo(png(width, height))).toBe('png');
  });

  const whole = png(64, 64);
  it.each([
    ['too small', png(15, 15), /15 by 15 pixels/],
    ['too large', png(1025, 1025), /1025 by 1025 pixels/],
    ['too wide', png(301, 100), /301 by 100: it must be square/],
    ['higher than wide', png(64, 128), /square/],
    ['animated', png(64, 64, [chunk('acTL', Buffer.alloc(8))]), /animated/],
    ['cut off', whole.subarray(0, -1), /complete PNG/],
    [
      'followed by other bytes',
      Buffer.concat([whole, Buffer.from('<script>alert(1)</script>')]),
      /end with IEND/,
    ],
    ['followed by another chunk', Buffer.concat([whole, chunk('tEXt', Buffer.from('x'))]), /end with IEND/],
    ['without image data', Buffer.concat([whole.subarray(0, 33), chunk('IEND')]), /complete PNG/],
    ['a PNG signature with a wrong last byte', Buffer.from('89504e470d0a1a0b', 'hex'), /complete PNG/],
    ['nothing but a PNG signature', whole.subarray(0, 8), /complete PNG/],
  ])('is refused when it is %s', (_what, body, why) => {
    expect(problem(body)).toMatch(why);
  });
});
