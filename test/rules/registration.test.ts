import { describe, expect, it } from 'vitest';
import {
  checkLogin,
  checkName,
  checkOperatorName,
  checkPassword,
} from '../../src/rules/account/registration.ts';
import { redirectUriProblem } from '../../src/rules/request/redirectUri.ts';

const PLAIN = 'https://app.example/cb';

describe('contract 2.1: registration of a redirect URI [registration-1]', () => {
  it.each([
    ...[PLAIN, 'https://app.example', 'https://app.example/?', 'https://app.example:8443/cb'],
    ...['http://127.0.0.1:9/cb', 'http://[::1]:9/cb', 'HTTPS://APP.EXAMPLE/CB', 'http://app.example/cb'],
    ...['https://app.example/@user;a=1/~x/%D0%9F', 'https://app.example/cb?mail=a@b', 'intent://scan/'],
    ...['com.example.app:/oauth2redirect', 'myapp://done'],
    `${PLAIN}?${'x'.repeat(2000 - PLAIN.length - 1)}`,
  ])('accepts %s', (uri) => {
    expect(redirectUriProblem(uri)).toBeUndefined();
  });

  it.each([
    ['too many characters', `${PLAIN}?${'x'.repeat(2000 - PLAIN.length)}`, 'longer'],
    ['a fragment', `${PLAIN}#top`, 'fragment'],
    ['a space', 'https://app.example/a b', 'characters'],
    ['a backslash', 'https://app.example\\@evil.example/', 'characters'],
    ['a letter outside ASCII', 'https://пример.example/cb', 'characters'],
    ['a path alone', '/cb', 'absolute'],
    ['a host alone', 'app.example', 'absolute'],
    ['a port out of range', 'https://app.example:99999/', 'absolute'],
    ['an empty host', 'https:///cb', 'host'],
    ['only one slash after https:', 'https:/app.example/cb', 'host'],
    ['a user name', 'https://user@app.example/cb', 'user name'],
    ['a user name after a custom scheme', 'myapp://user@done', 'user name'],
    ['a percent sign without two hex digits', `${PLAIN}?x=%Z1`, 'two hex digits'],
    ['a user name after an upper-case scheme', 'HTTPS://user@app.example/cb', 'user name'],
  ])('refuses %s', (_what, uri, reason) => {
    expect(redirectUriProblem(uri)).toContain(reason);
  });

  it.each([
    ...['javascript:alert(1)', 'JavaScript://app.example/%0Aalert(1)', 'data:text/html,x', 'vbscript:x'],
    ...['file:///etc/passwd', 'blob:https://app.example/x', 'about:blank', 'view-source:https://x/'],
    ...['filesystem:https://app.example/x', 'mailto:x@y', 'tel:1', 'sms:1', 'ftp://x', 'ws://x', 'wss://x'],
  ])('refuses a scheme that does not lead to an application: %s', (uri) => {
    expect(redirectUriProblem(uri)).toContain('does not lead to an application');
  });
});

it.each([
  ['name', checkName, 100],
  ['login', checkLogin, 128],
])('registration allows only visible characters, from 1 up to the maximum length: %s', (what, check, max) => {
  for (const text of ['x', 'Zoë Q', '😀'.repeat(max)]) expect(() => check(text)).not.toThrow();
  for (const text of ['', 'x'.repeat(max + 1)]) {
    expect(() => check(text)).toThrow(`the ${what} must have 1 to ${max} characters`);
  }
  for (const text of [' x', 'x  y', 'x\u200by', 'x\ny']) {
    expect(() => check(text)).toThrow(`the ${what} has U+`);
  }
});

it('a login or an operator may not be called ., which no path can have', () => {
  expect(() => checkLogin('.')).toThrow('which no path can have');
  expect(() => checkOperatorName('.', [], [])).toThrow('which no path can have');
});

it.each([
  ['root', 'own, “root”'],
  ['migrate-job', 'own, “migrate job”'],
  ['Crm', 'that of another operator, “crm”'],
  ['сrm', 'letters of several scripts'],
  ['crm ✓', 'a mark of this service'],
])('an operator may not be called like another, or like a user of commands: %s', (name, problem) => {
  expect(() => checkOperatorName(name, ['crm'], ['root'])).toThrow(problem);
  expect(() => checkOperatorName('crm 2', ['crm'], ['root'])).not.toThrow();
});

describe('a password at registration', () => {
  const check = (password: string, allowWeak = false) => checkPassword('password', password, allowWeak);

  it('needs enough characters after NFKC, or one if weak passwords are allowed, and not too many bytes', () => {
    for (const password of ['x'.repeat(8), '😀'.repeat(8), 'x'.repeat(1000)]) {
      expect(() => check(password)).not.toThrow();
    }
    for (const password of ['x'.repeat(7), 'e\u0301'.repeat(7)]) {
      expect(() => check(password)).toThrow('fewer than 8 characters');
      expect(() => check(password, true)).not.toThrow();
    }
    for (const password of ['', 'x'.repeat(1001), 'é'.repeat(501)]) {
      expect(() => check(password, true)).toThrow('must have 1 to 1000 bytes');
    }
  });

  it('may not have control characters, even if weak passwords are allowed', () => {
    expect(() => check('long enough\n', true)).toThrow('no control characters');
  });
});
