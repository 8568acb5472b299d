import { describe, expect, it } from 'vitest';
import { FileError } from '../../src/rules/common/operatorFile.ts';
import { checkLogo, contentTypeOf, MAX_LOGO_BYTES } from '../../src/rules/face/logo.ts';
import { chunk, png, svg } from '../support/pictures.ts';

/** Why a picture is refused; undefined when it is taken. */
function problem(body: Buffer | string): string | undefined {
  try {
    checkLogo(Buffer.from(body));
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(FileError);
    return (error as Error).message;
  }
}

const SHAPE = '<rect width="9" height="9"/>';

describe('an SVG logo', () => {
  it.each([
    ['shapes', svg()],
    [
      'a BOM, a declaration, comments and text',
      `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<!-- by hand -->${svg('<title>A &amp; B (new)</title><text x="1" y="9" font-family="serif">A<tspan>b</tspan></text>')}`,
    ],
    [
      'gradients of its own, and groups that one shape clips, as Figma and Illustrator write them',
      svg(
        '<defs><linearGradient id="a"><stop offset="0" stop-color="rgb(1,2,3)"/></linearGradient><linearGradient id="b" xlink:href="#a" gradientTransform="rotate(90)"/><clipPath id="c">' +
          SHAPE +
          '</clipPath></defs><g clip-path="url(\'#c\')" transform="translate(1 2) scale(.5)"><circle r="4" fill="url(#b)"/></g>',
      ),
    ],
    [
      'the style of an Inkscape path, which says that nothing is dashed',
      svg('<path style="fill:none;stroke:#000;stroke-dasharray:none;stroke-dashoffset:0" d="M0 0h1"/>'),
    ],
    [
      'a style for dark pages',
      svg(
        '<style>.a{fill:#111}@media (prefers-color-scheme: dark){.a{fill:hsl(10 20% 30%)}}</style><path class="a" style="opacity:.5" d="M0 0h1"/>',
      ),
    ],
    ['a style in CDATA', svg('<style><![CDATA[ .a, #b {fill:#111} g{} ]]></style>')],
    [
      'what a drawing program leaves behind, and what does nothing in an <img>',
      svg(
        '<metadata>x</metadata><g xmlns:inkscape="http://www.inkscape.org/" inkscape:label="a(b)" id="mask" aria-label="a(b)" xml:base="https://evil.example/">x</g>' +
          '<svg viewBox="0 0 1 1"/><path style="fill:url(#a)" marker-end="url(#a)" fill="url(#filter0)"/>' +
          '<linearGradient href="https://evil.example/x.svg#a" spreadMethod="reflect"/>',
      ),
    ],
    [
      'declared namespaces that nothing uses',
      svg(SHAPE, 'viewBox="0,0,32,32" width="100%" xmlns:serif="http://www.serif.com/"'),
    ],
  ])('may have %s', (_what, body) => {
    expect(problem(body)).toBeUndefined();
  });

  const acting = ['script', 'SCRIPT', 'a', 'foreignObject', 'iframe', 'handler', 'image', 'use', 'feImage'];
  it.each([...acting, 'animate', 'set', 'pattern', 'filter', 'mask'])('must not have <%s>', (name) => {
    expect(problem(svg(`<${name}/>`))).toContain(`has <${name}>`);
  });

  const slow = [
    'text-shadow',
    'box-shadow',
    'box-reflect',
    'mask',
    'filter',
    'clip-path',
    'stroke-dasharray',
  ];
  it.each(slow)('must not have %s', (property) => {
    expect(problem(svg(`<path ${property}="1"/>`))).toContain(`has ${property} in the attribute`);
    expect(problem(svg(`<style>g{${property}:1}</style>`))).toContain(`has ${property} in <style>`);
  });

  it.each([
    ['<g onload="alert(1)"/>', /alert\(\) in the attribute onload/],
    ['<path fill="url(#a) url(//evil.example/)"/>', /url\(\) in/],
    ['<path fill="URL( &quot;https://evil.example/&quot; )"/>', /URL\(\) in/],
    ['<path fill="&#117;rl(https://evil.example/)"/>', /url\(\) in/],
    ['<path fill="\\75rl(https://evil.example/)"/>', /has \\ in/],
    ['<path style="fill:url(https://evil.example/x.svg#a)"/>', /url\(\) in the attribute style/],
    ['<style>@import "https://evil.example/x.css";</style>', /@import in <style>/],
    ['<style>@font-face{font-family:x;src:url(//evil.example/x)}</style>', /@font-face/],
    ['<style><![CDATA[.a{background:url(//evil.example/x)}]]></style>', /url\(\) in <style>/],
    ['<style>.a{fill:ur<!-- -->l(//evil.example/)}</style>', /url\(\) in <style>/],
    ['<style>.a{fill:url<![CDATA[(//evil.example/)]]></style>', /url\(\) in <style>/],
    ['<style>.a{fill:url<g/>(//evil.example/)}</style>', /<g> in <style>/],
    ['<style xmlns="http://www.w3.org/1999/xhtml">a{}</style>', /<style> outside of http/],
    ['<style>@keyframes a{to{x:9}}</style>', /@keyframes/],
    [
      '<style>svg{background:repeating-conic-gradient(red 0deg .001deg,blue 0deg .002deg)}</style>',
      /repeating-conic-gradient\(\)/,
    ],
    ['<g style="clip-path:url(#a)"/>', /clip-path in/],
    ['<g clip-path="circle(9px)"/>', /circle\(\)/],
    [`<clipPath id="a">${SHAPE}<title/>${SHAPE}</clipPath>`, /clips with more than one/],
    ['<clipPath id="a"><path d="M0 0h1"/></clipPath>', /clips with more than one/],
    ['<path style="Stroke-DashArray/**/:none"/>', /has stroke-dasharray/i],
    ['<style>x~*{}</style>', /more in <style>/],
    ['<style>g,g{g,g{g,g{fill:red}}}</style>', /more in <style>/],
    ['<style>@media print{@media print{g{}}}</style>', /more in <style>/],
    ['<style>a{fill:red/*}b{*/ g~g{}}</style>', /more in <style>/],
    [`<style>${'g{}'.repeat(683)}</style>`.repeat(2), /more in <style> than 4096/],
    ['<g/>'.repeat(1000), /more than 1000 elements/],
    ['<g>'.repeat(33) + '</g>'.repeat(33), /deeper than 32/],
    ['<g>', /well-formed/],
    ['&nbsp;', /well-formed/],
  ])('must not have %s', (inside, why) => {
    expect(problem(svg(inside))).toMatch(why);
  });

  it.each([
    ['', /neither|well-formed/],
    [
      '<!DOCTYPE svg [<!ENTITY x "y">]><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">&x;</svg>',
      /DOCTYPE/,
    ],
    [`<?xml-stylesheet href="https://evil.example/x.css"?>${svg()}`, /xml-stylesheet/],
    [`${svg()}<script/>`, /well-formed|one <svg>/],
    ['<html xmlns="http://www.w3.org/1999/xhtml"/>', /one <svg>/],
    ['<svg viewBox="0 0 1 1"/>', /<svg> outside of http/],
    [svg('', ''), /needs a viewBox/],
    [svg('', 'viewBox="0 0 32"'), /needs a viewBox/],
    [svg('', 'viewBox="0 0 0 0"'), /needs a viewBox/],
    [svg('', 'viewBox="0 0 1e9 1e9"'), /needs a viewBox/],
    [svg('', 'viewBox="0 0 32 64"'), /square/],
    [svg('', 'viewBox="0 0 32 32" width="400px" height="10"'), /400 by 10/],
    [Buffer.from(svg().toString(), 'utf16le'), /UTF-8|well-formed|outside/],
    [Buffer.concat([svg(), Buffer.from([0xff])]), /neither a PNG nor an SVG/],
    ['GIF89a', /well-formed/],
    [svg(`<desc>${'x'.repeat(MAX_LOGO_BYTES)}</desc>`), /bytes, and may have 65536/],
  ])('is not %s', (body, why) => {
    expect(problem(body)).toMatch(why);
  });

  it('may have as many letters as a logo needs', () => {
    expect(problem(svg(`<text>${'a'.repeat(500)}</text>`))).toBeUndefined();
    expect(problem(svg(`<text>${'a'.repeat(250)}<tspan>${'b'.repeat(251)}</tspan></text>`))).toMatch(
      /500 letters/,
    );
  });

  it('is read in no time whatever it holds', () => {
    expect(problem(svg(`<path d="M0${'-1'.repeat(30_000)}"/>`))).toBeUndefined();
    for (const inside of [
      `<style>${'a('.repeat(30_000)}</style>`,
      `<path fill="${'url(#'.repeat(12_000)}"/>`,
      '<g a=""/>'.repeat(7_000),
    ]) {
      expect(problem(svg(inside))).toMatch(/must not have|more than/);
    }
  });
});

describe('a PNG logo', () => {
  it.each([
    [16, 16],
    [1024, 1024],
    [300, 100],
  ])('may have %i by %i pixels', (width, height) => {
    expect(checkLogo(png(width, height))).toEqual({ extension: 'png', width, height });
  });

  const whole = png(64, 64);
  it.each([
    ['too small', png(15, 15), /15 by 15 pixels/],
    ['too large', png(1025, 1025), /1025 by 1025 pixels/],
    ['too wide', png(301, 100), /301 by 100: it must be square/],
    ['higher than wide', png(64, 128), /square/],
    ['animated', png(64, 64, [chunk('acTL', Buffer.alloc(8))]), /animated/],
    ['cut off', whole.subarray(0, -1), /whole PNG/],
    [
      'followed by something',
      Buffer.concat([whole, Buffer.from('<script>alert(1)</script>')]),
      /end with IEND/,
    ],
    ['followed by a chunk', Buffer.concat([whole, chunk('tEXt', Buffer.from('x'))]), /end with IEND/],
    ['without a picture', Buffer.concat([whole.subarray(0, 33), chunk('IEND')]), /whole PNG/],
    ['no PNG but its first byte', Buffer.from('89504e470d0a1a0b', 'hex'), /whole PNG/],
    ['nothing but its signature', whole.subarray(0, 8), /whole PNG/],
  ])('is refused when it is %s', (_what, body, why) => {
    expect(problem(body)).toMatch(why);
  });
});

describe('a logo', () => {
  it('is served as what it was checked as', () => {
    expect(checkLogo(svg())).toEqual({ extension: 'svg', width: 32, height: 32 });
    expect(contentTypeOf('x.svg')).toBe('image/svg+xml; charset=utf-8');
    expect(contentTypeOf('x.png')).toBe('image/png');
  });
});
