import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerLocation,
  countStates,
  redirectUriDoubt,
  redirectUriMismatch,
  redirectUriProblem,
  withLoopbackPortOf,
} from '../../src/rules/request/redirectUri.ts';
import { anyString, character, forAny, text } from './arbitraries.ts';

/** Names in our answers, or in those of other servers that a library may take ours for. */
const ANSWER_NAMES = [
  ...['code', 'error', 'error_description', 'error_uri', 'state', 'iss', 'session_state'],
  ...['access_token', 'id_token', 'token_type', 'expires_in', 'scope'],
];
/** `state` is reserved only if the request sends it, too. */
const RESERVED = ANSWER_NAMES.filter((name) => name !== 'state');
const PLAIN = 'https://app.example/cb';
const WITH_QUERY = 'https://app.example/cb?user=7&shop%5Fid=a';

describe('contract 2.2: the exact comparison of redirect_uri with the registered URI', () => {
  it.each([PLAIN, WITH_QUERY, 'https://app.example/%D0%9F/a/../b/', 'http://127.0.0.1:9/cb?&', 'myapp:done'])(
    'refuses any edit of one character inside %s',
    (registered) => {
      const at = fc.integer({ min: 0, max: registered.length - 1 });
      const character = fc.oneof(
        fc.constantFrom(...`?&=#/.:@%;${registered}`),
        fc.string({ maxLength: 1, minLength: 1 }),
      );
      forAny(at, character, (index, put) => {
        fc.pre(put !== registered[index]);
        const [before, after] = [registered.slice(0, index), registered.slice(index + 1)];
        for (const sent of [before + put + after, before + put + registered[index] + after, before + after])
          expect(redirectUriMismatch(registered, sent)).not.toBeNull();
      });
    },
  );

  it('never throws, and accepts only the registered URI, alone or with parameters appended', () => {
    forAny(anyString, anyString, (registered, sent) => {
      expect(redirectUriMismatch(registered, registered)).toBeNull();
      for (const uri of [sent, registered + sent, `${registered}?${sent}`, `${registered}&${sent}`]) {
        fc.pre(uri !== registered);
        const separator = registered.includes('?') ? '&' : '?';
        if (!uri.startsWith(registered + separator))
          expect(redirectUriMismatch(registered, uri)).not.toBeNull();
        else redirectUriMismatch(registered, uri);
      }
      redirectUriProblem(sent);
    });
  });
});

describe('contract 2.2: the comparison of a redirect_uri with appended parameters', () => {
  it.each([
    [PLAIN, '?&'],
    [PLAIN, '?next=https://app.example/a?b=c'],
    [PLAIN, '?x=%D0%9F+%26'],
    [PLAIN, '?codex=1&xcode=2&co%20de=3&my_state=4&scopes=5&my_scope=6&token=7&x-state=8'],
    [WITH_QUERY, '&x=1'],
    [WITH_QUERY, '&users=8'],
    ['https://app.example/cb?', '&x=1'],
  ])('accepts %s with %s appended', (registered, appended) => {
    expect(redirectUriMismatch(registered, registered + appended)).toBeNull();
  });

  it.each([
    ['an appended & if the registered URI has no query', PLAIN, '&x=1'],
    ['an appended ? if the registered URI has a query', WITH_QUERY, '?x=1'],
    ['an appended ? if the registered URI has an empty query', 'https://app.example/cb?', '?x=1'],
    ['a letter outside ASCII', PLAIN, '?x=é'],
    ['a space', PLAIN, '?x=a b'],
    ['a NUL', PLAIN, '?x=\0'],
    ['the control character DEL', PLAIN, '?x=\x7f'],
    ['a name that cannot be decoded', PLAIN, '?%FF=1'],
    ['a name with a broken percent-encoding', PLAIN, '?c%6=1'],
  ])('refuses %s', (_what, registered, appended) => {
    expect(redirectUriMismatch(registered, registered + appended)).not.toBeNull();
  });

  it.each(RESERVED)('refuses a parameter with a name reserved for responses: %s', (name) => {
    for (const appended of [`${name}=x`, `${name}=`, name, `x=1&${name}=x`, `x=1;${name}=x`, `${name};x=1`]) {
      expect(redirectUriMismatch(PLAIN, `${PLAIN}?${appended}`)).not.toBeNull();
      expect(redirectUriMismatch(WITH_QUERY, `${WITH_QUERY}&${appended}`)).not.toBeNull();
    }
  });

  it('accepts state, in any spelling, unless the registered URI has it', () => {
    for (const state of ['state=x', 'STATE=x', 'state[]=x', ';state=x', 'sta%74e=x', 'x=1;state', 'state']) {
      expect(redirectUriMismatch(PLAIN, `${PLAIN}?${state}`)).toBeNull();
      expect(countStates(`${PLAIN}?${state}`)).toBe(1);
      const registered = `${PLAIN}?user=1`;
      expect(redirectUriMismatch(registered, `${registered}&${state}`)).toBeNull();
      expect(redirectUriMismatch(`${PLAIN}?State=y`, `${PLAIN}?State=y&${state}`)?.[0]).toBe(
        'redirect_uri_appended',
      );
    }
    expect(countStates(`${PLAIN}?my_state=1&next=/?state=2`)).toBe(0);
    expect(countStates(`${PLAIN}?state[0]=1&State[1]=2;state`)).toBe(3);
  });

  it('refuses a redirect_uri that is too long', () => {
    expect(redirectUriMismatch(PLAIN, `${PLAIN}?${'a;'.repeat(16_000)}`)).toEqual([
      'redirect_uri_too_long',
      'redirect_uri is longer than 6000 characters',
    ]);
  });

  it.each([
    ...['c%6Fde=x', 'CODE=x', 'COD%45=x', 'code[]=x', 'code[0]=x', 'code%5B%5D=x', 'code[=x', 'code%00=x'],
    ...['+code=x', 'code+=x', '%09code=x', 'code%0A=x', '%C2%A0code=x', ';code=x', 'x;code=x', '?code=x'],
    ...['error%5Fdescription=x', 'Access.Token=x', 'expires+in=x', 'SESSION_STATE=x', 'sco%70e[]=x'],
    // names in the registered query
    ...['user=8', 'user', 'USER=8', 'us%65r=8', 'user[]=8', 'x;user=8', 'shop_id=b', 'x=1&user=8'],
  ])('refuses another spelling of a name that is reserved or registered: %s', (appended) => {
    expect(redirectUriMismatch(WITH_QUERY, `${WITH_QUERY}&${appended}`)).not.toBeNull();
    if (!/user|us%65r|shop_id/i.test(appended))
      expect(redirectUriMismatch(PLAIN, `${PLAIN}?${appended}`)).not.toBeNull();
  });
});

describe('RFC 8252 section 7.3: the comparison of loopback redirect URIs of an OAuth 2.1 application', () => {
  const [V4, V6, NO_PATH] = ['http://127.0.0.1:9/cb', 'http://[::1]:9/cb', 'http://127.0.0.1:9'];
  const V4_QUERY = `${V4}?user=7`;
  const mismatch = (registered: string, sent: string) =>
    redirectUriMismatch(registered, withLoopbackPortOf(registered, sent));

  const ports = (...texts: string[]) => texts.map((port) => `http://127.0.0.1:${port}/cb`);
  const hosts = (...texts: string[]) => texts.map((host) => `http://${host}:8/cb`);

  it.each([
    ['a port out of range', V4, ports('0', '65536', '99999', '123456')],
    ['a port in another spelling', V4, ports('080', '09', '', '+80', '8%30', ' 80', '8_0')],
    ['another path', V4, ports('8/', '8/cbx', '8//').concat('http://127.0.0.1:8/CB', 'http://127.0.0.1:8')],
    ['a path if none is registered', NO_PATH, ['http://127.0.0.1:8/', ...ports('8')]],
    ['a user name', V4, [...ports('8@evil.example'), ...hosts('x@127.0.0.1', '127.0.0.1@evil.example')]],
    ['a user name without a path', NO_PATH, ['http://127.0.0.1:8@evil.example', `${NO_PATH}@evil.example`]],
    ['a host with a suffix', NO_PATH, ['http://127.0.0.1.evil.example:8', `${NO_PATH}.evil.example`]],
    ['a backslash', V4, [...ports('8\\@evil.example'), 'http:\\\\127.0.0.1:8/cb']],
    ['a fragment', V4, [...ports('8#'), 'http://127.0.0.1:8/cb#x']],
    ['a parameter of the response', V4, ['http://127.0.0.1:8/cb?code=x', 'http://127.0.0.1:8/cb?iss=x']],
    ['a parameter of the registered query', V4_QUERY, ['http://127.0.0.1:8/cb?user=7&user=8', ...ports('8')]],
    ['another loopback address', V4, hosts('[::1]', 'localhost', '127.0.0.2')],
    ['another spelling of 127.0.0.1', V4, hosts('127.1', '2130706433', '127.0.0.01', '127.0.0.1.')],
    ['another spelling of ::1', V6, hosts('[0:0:0:0:0:0:0:1]', '[::01]', '::1', '[::ffff:7f00:1]')],
    ['another scheme', V4, ['https://127.0.0.1:8/cb', 'HTTP://127.0.0.1:8/cb']],
  ])('refuses %s', (_what, registered, sent) => {
    for (const uri of sent) expect([uri, mismatch(registered, uri)]).not.toEqual([uri, null]);
  });

  it.each(['localhost', '127.0.0.2', 'app.example'])(
    'refuses another port where %s is registered [redirectUri-1]',
    (host) => {
      for (const scheme of ['http', 'https', 'HTTP'])
        expect(mismatch(`${scheme}://${host}:9/cb`, `${scheme}://${host}:8/cb`)).not.toBeNull();
      expect(mismatch(`http://127.0.0.1.${host}/cb`, `http://127.0.0.1:8.${host}/cb`)).not.toBeNull();
      for (const registered of ['https://127.0.0.1:9/cb', 'HTTP://127.0.0.1:9/cb', 'http://127.0.0.1:0/cb'])
        expect(mismatch(registered, registered.replace(/:\d/, ':8'))).not.toBeNull();
    },
  );

  it('reports where a path first differs, and accepts a difference in the port only', () => {
    expect(mismatch(V4, 'http://127.0.0.1:51234/cx')?.[1]).toContain('at character 21');
    const port = fc.integer({ min: 1, max: 65_535 });
    const host = fc.constantFrom('127.0.0.1', '[::1]');
    const path = fc.constantFrom('', '/', '/cb', '/cb?user=7', '?', '/a:8/');
    forAny(host, path, port, port, character, (name, behind, own, other, more) => {
      const [registered, sent] = [`http://${name}:${own}${behind}`, `http://${name}:${other}${behind}`];
      expect(mismatch(registered, sent)).toBeNull();
      if (own !== other) expect(redirectUriMismatch(registered, sent)).not.toBeNull();
      if (!/[\d/?&]/.test(more)) expect(mismatch(registered, sent + more)).not.toBeNull();
    });
    forAny(anyString, anyString, (registered, sent) => {
      expect(withLoopbackPortOf(registered, sent)).toBe(sent);
    });
  });
});

describe('RFC 9700 section 2.6: registration of a redirect URI', () => {
  it.each([
    ...['HTTPS://app.example', 'about:', 'http://127.0.0.2/cb', 'http://127.1:9/', 'HTTP://LOCALHOST/'],
    ...['market-app://x', 'intents:x', 'https://intent.example/intent:x', 'my.intent:/cb'],
  ])('needs no --force: %s', (uri) => {
    expect(redirectUriDoubt(uri)).toBeNull();
  });

  it.each([
    ...['http://128.0.0.1/', 'http://[::2]/', 'http://0.0.0.0:9/'],
    ...['http://127.0.0.1.evil.example/', 'http://localhost.evil.example/'],
  ])('needs --force if codes would be sent unencrypted: %s', (uri) => {
    expect(redirectUriDoubt(uri)).toBe('receives codes unencrypted, without https');
  });

  it.each([...['intent://scan/', 'INTENT:x', 'android-app://com.example/https/x', 'Market://details?id=x']])(
    'needs --force if the URI is rewritten by a browser: %s [redirectUri-2]',
    (uri) => {
      expect(redirectUriProblem(uri)).toBeUndefined(); // registered ones stay, and an import may bring one
      const scheme = uri.slice(0, uri.indexOf(':') + 1).toLowerCase();
      expect(redirectUriDoubt(uri)).toBe(
        `has the scheme ${scheme}, which browsers rewrite to another address`,
      );
    },
  );
});

describe('registration of a redirect URI with a name of the response in its query', () => {
  const FORGING = RESERVED.filter((name) => name !== 'scope');
  const spellings = (name: string) => [name, `x=1&${name}=x`, `${name.toUpperCase()}[]=x`, `;${name}=x`];

  it.each(FORGING)('is refused: %s', (name) => {
    for (const query of spellings(name))
      expect(redirectUriProblem(`${PLAIN}?${query}`)).toBe(
        `its query has ${name}, a parameter of Assent’s response`,
      );
  });

  it.each(['state', 'scope'])('needs --force: %s', (name) => {
    for (const query of spellings(name)) {
      const uri = `${PLAIN}?${query}`;
      expect(redirectUriProblem(uri.replace('[]', '%5B%5D'))).toBeUndefined();
      const doubt = `has ${name} in its query, which libraries read as part of the response`;
      expect(redirectUriDoubt(uri)).toBe(doubt);
    }
    expect(redirectUriDoubt(`${PLAIN}?my_${name}=1&next=/?${name}=2`)).toBeNull();
  });
});

describe('the authorization response', () => {
  /** Texts of a URI's own characters, whole escapes among them. */
  const uriText = (extra: string) =>
    fc.string({
      unit: fc.oneof(fc.constantFrom(...`aZ0-._~:@!$'()*,${extra}`), fc.constantFrom('%2F', '%d0%9F', '%26')),
    });
  const base = fc.constantFrom('https://app.example', 'http://[::1]:9', 'com.example.app:', 'myapp://done');
  const name = fc.constantFrom('x', 'y', 'user', 'co-de', 'shop%5Fid', 'next');
  const query = fc
    .array(fc.tuple(name, uriText('/+=?')), { maxLength: 3 })
    .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'));
  const registeredUri = fc
    .tuple(base, uriText('/;'), fc.option(query))
    .map(([start, path, search]) => `${start}/${path}${search === null ? '' : `?${search}`}`)
    .filter((uri) => redirectUriProblem(uri) === undefined);
  /** Names and values of any visible characters; `redirectUriMismatch` decides which match. */
  const appended = fc.oneof(
    fc.constant(''),
    query,
    fc.string({
      unit: fc.oneof(fc.constantFrom(...'?&=;[]+ .%'), fc.constantFrom('code', 'state', 'x', '%20')),
    }),
  );
  const accepted = fc
    .tuple(registeredUri, appended)
    .map(([registered, more]) => {
      const sent = more === '' ? registered : `${registered}${registered.includes('?') ? '&' : '?'}${more}`;
      return { registered, sent };
    })
    .filter(
      ({ registered, sent }) => redirectUriMismatch(registered, sent) === null && countStates(sent) < 2,
    );
  const answered = fc
    .tuple(accepted, fc.option(text()))
    .map(([uris, state]) => ({ ...uris, state: countStates(uris.sent) === 0 ? state : null }));

  it('reaches any accepted redirect URI: same origin and path, every registered parameter, each response parameter once', () => {
    const answerName = fc.constantFrom('code', 'error');
    forAny(answered, answerName, text(), ({ registered, sent, state }, name, value) => {
      const printed = answerLocation({ redirectUri: sent, state }, name, value);
      expect(printed.startsWith(sent)).toBe(true);
      const location = new URL(printed);
      const home = new URL(registered);
      for (const part of ['protocol', 'username', 'host', 'pathname', 'hash'] as const) {
        expect(location[part]).toBe(home[part]);
      }
      for (const key of home.searchParams.keys()) {
        expect(location.searchParams.getAll(key)).toEqual(home.searchParams.getAll(key));
      }
      expect(countStates(printed)).toBeLessThan(2);
      if (state !== null) expect(location.searchParams.getAll('state')).toEqual([state]);
      const expected: Record<string, string[]> = { [name]: [value] };
      for (const reserved of RESERVED) {
        expect(location.searchParams.getAll(reserved)).toEqual(expected[reserved] ?? []);
      }
    });
  });
});
