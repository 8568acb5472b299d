import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeVariables, readConfig, readDatabaseConfig } from '../src/config/config.ts';
import { ConfigError } from '../src/config/environment.ts';
import { VARIABLES } from '../src/config/variables.ts';
import { BUILT_IN_BRAND } from '../src/rules/face/brand.ts';
import { NO_TARGET_NAMES } from '../src/rules/face/directory.ts';
import { find } from './docs/checkout.ts';
import { png, svg } from './support/pictures.ts';
import { fileIn, useFolder } from './support/process/folder.ts';

const COMPLETE = {
  DATABASE_URL: 'postgres://assent@db/assent',
  BASE_URL: 'https://pay.example',
  SECRETS: 'x'.repeat(32),
};
const { DATABASE_URL, BASE_URL, SECRETS } = COMPLETE;
const AT_WALLET = {
  ...COMPLETE,
  SIGN_IN_ISSUER: 'https://wallet.example/realms/users',
  SIGN_IN_CLIENT_ID: 'assent',
  SIGN_IN_CLIENT_SECRET: 'hidden at the wallet',
};

const folder = useFolder();

const write = (name: string, content: string | Buffer) => fileIn(folder, name, content);

/** Expects these problems and no others, each by its sentence or a pattern. */
function expectProblems(
  environment: Record<string, string>,
  expected: readonly (string | RegExp)[],
  read: (environment: Record<string, string>) => unknown = readConfig,
): void {
  let problems: string[] = [];
  try {
    read(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    problems = (error as Error).message.split('\n');
  }
  const said = expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one)));
  expect(problems).toEqual(said);
}

describe('the configuration', () => {
  it('may be empty, which means trial mode', () => {
    expect(readConfig({})).toMatchObject({
      databaseUrl: null,
      host: 'localhost',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      secrets: null,
      codeLifetimeSeconds: 50,
      trustProxy: false,
      drainMs: 0,
      maxConnections: 4000,
      maxInstances: 100,
      demo: true,
      currency: 'RUB',
      timeZone: 'UTC',
      provider: null,
      requiresPaymentPassword: false,
    });
  });

  it.each([
    ['PORT', '0 65536 x -1 1.5'],
    ['BASE_URL', 'pay.example ftp://a.example https://a.example/path https://u@a https://a?x https://a\\b'],
    ['SECRETS', `short ${SECRETS},short ${SECRETS},`],
    ['CODE_LIFETIME_SECONDS', '0 60 x'],
    ['TIME_ZONE', 'MSK Moscow +03:00 UTC+3 Europe/Moskva 3'],
    ['DRAIN_SECONDS', '-1 61 1.5 long'],
    ['MAX_INSTANCES', '0 -1 many 1.5'],
    ['LOG_LEVEL', 'loud'],
    ['TRUST_PROXY', 'everybody 10.0.0.0/8,x 999.1.1.1 10.0.0.0/33 0.0.0.0/0 ::/0 ::1/129 1.2.3.4/8/8'],
    ['METRICS_PORT', '0 65536 x 3000'],
    ['ADMIN_PORT', '0 65536 x 3000'],
    ['METRICS_TOKEN', `short ${'x'.repeat(31)} ${'ö'.repeat(32)}`],
    ['DEMO', 'maybe'],
    ['CURRENCY', 'rub RUBL'],
    ['DEFAULT_LIMIT', '3000 0,5 1,0 1,5.123 ,5 1,-5 1,1e3'],
    ['LIMITS', 'all each;until until,each each,each each,until,'],
    ['SPENDING', 'yes'],
    ['PAYMENT_PASSWORD', 'always'],
    ['DATABASE_URL', 'mysql://x/y x'],
    ['SIGN_IN_ISSUER', 'a.example ftp://a.example http://a.example http://localhost.a.example'],
    ['SIGN_IN_ISSUER', 'http://192.168.1.7:4000 https://u@a.example/ https://:word@a.example/'],
    ['SIGN_IN_ISSUER', 'https://a.example/?x https://a.example/#x https://a.example/%7Btenant%7D'],
    ['SIGN_IN_ISSUER', 'https://a.example/.well-known/openid-configuration'],
    ['SIGN_IN_ISSUER', 'https://login.microsoftonline.com/{tenantid}/v2.0'],
    ['SIGN_IN_ISSUER', 'https://login.microsoftonline.com/common/v2.0'],
    ['SIGN_IN_ISSUER', 'https://login.microsoftonline.us/Organizations/v2.0'],
    ['SIGN_IN_ISSUER', 'https://login.partner.microsoftonline.cn/consumers'],
    ['SIGN_IN_NEW_USERS', 'maybe'],
  ])('refuses each wrong value of %s with a one-line message: %s', (name, values) => {
    for (const value of values.split(' '))
      expectProblems({ ...AT_WALLET, DEFAULT_LIMIT: '1,30', [name]: value }, [
        new RegExp(`^${name} must .{10,}\\.$`),
      ]);
  });

  it('accepts the secret published in docker-compose.yml only on localhost', () => {
    const [published = ''] = find('docker-compose.yml', /SECRETS: \$\{SECRETS:-(.+)\}/g);
    const environment = { ...COMPLETE, SECRETS: published };
    expectProblems({ ...environment, BASE_URL: 'http://localhost:3000' }, []);
    expectProblems(environment, [/^SECRETS must be your own/]);
  });

  it('requires DEFAULT_LIMIT if CURRENCY is not RUB', () => {
    expectProblems({ ...COMPLETE, CURRENCY: 'EUR' }, [
      'DEFAULT_LIMIT is required when CURRENCY is not RUB: days and sum of a right without a limit, such as 1,30.',
    ]);
    const read = (given: Record<string, string>) => readConfig({ ...COMPLETE, ...given }).defaultLimit;
    expect(read({ CURRENCY: 'EUR', DEFAULT_LIMIT: '30,99.50' })).toEqual({ days: 30, sum: '99.50' });
    for (const given of [{}, { CURRENCY: 'RUB' }, { CURRENCY: '', DEFAULT_LIMIT: '' }])
      expect(read(given)).toEqual({ days: 1, sum: '3000' });
  });

  const [old, fresh] = ['o'.repeat(32), 'n'.repeat(40)];

  it.each([
    [
      { PORT: '4000', HOST: '', SECRETS: '' },
      { baseUrl: 'http://localhost:4000', host: 'localhost' },
    ],
    [{ SECRETS: `${old}, ${fresh}` }, { secrets: [old, fresh] }],
    [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
    [{ TRUST_PROXY: '10.0.0.0/8, ::1' }, { trustProxy: ['10.0.0.0/8', '::1'] }],
    [{ PGPASSWORD: 'p' }, { databasePassword: 'p' }],
    [{ PGPASSWORD: '' }, { databasePassword: null }],
    // In trial mode the demo's payments are counted.
    [{ LIMITS: '' }, { furtherLimits: ['each', 'until'], countsPayments: true }],
    [COMPLETE, { furtherLimits: [], countsPayments: false }],
    [
      { ...COMPLETE, SPENDING: 'on' },
      { furtherLimits: ['each', 'until'], countsPayments: true },
    ],
    [{ ...COMPLETE, LIMITS: 'each' }, { furtherLimits: ['each'] }],
    [{ ...COMPLETE, LIMITS: 'each,until' }, { furtherLimits: ['each', 'until'] }],
    [{ ...COMPLETE, SPENDING: 'on', LIMITS: 'until' }, { furtherLimits: ['until'] }],
    [{ PAYMENT_PASSWORD: '' }, { requiresPaymentPassword: false }],
    [{ PAYMENT_PASSWORD: 'optional' }, { requiresPaymentPassword: false }],
    [{ PAYMENT_PASSWORD: 'required' }, { requiresPaymentPassword: true }],
  ])('reads valid values, and treats an empty one as unset: %o', (given: Record<string, string>, read) => {
    expect(readConfig(given)).toMatchObject(read);
  });
});

describe('SIGN_IN_ISSUER', () => {
  it('is read with the other SIGN_IN variables', () => {
    const { SIGN_IN_ISSUER: issuer, SIGN_IN_CLIENT_ID: clientId, SIGN_IN_CLIENT_SECRET } = AT_WALLET;
    const provider = { issuer, clientId, clientSecret: SIGN_IN_CLIENT_SECRET };
    expect(readConfig(AT_WALLET).provider).toEqual({ ...provider, paymentAcr: null, createsUsers: true });
    const more = { SIGN_IN_PAYMENT_ACR: 'urn:payment', SIGN_IN_NEW_USERS: 'refuse' };
    const changed = { ...provider, paymentAcr: 'urn:payment', createsUsers: false };
    expect(readConfig({ ...AT_WALLET, ...more }).provider).toEqual(changed);
    expect(readConfig({ ...COMPLETE, SIGN_IN_ISSUER: '' }).provider).toBeNull();
  });

  it('requires a client id and secret, and is required by the other SIGN_IN variables', () => {
    const { SIGN_IN_ISSUER } = AT_WALLET;
    expectProblems({ ...COMPLETE, SIGN_IN_ISSUER }, [
      'SIGN_IN_CLIENT_ID is required when SIGN_IN_ISSUER is set.',
      'SIGN_IN_CLIENT_SECRET is required when SIGN_IN_ISSUER is set.',
    ]);
    expectProblems({ ...AT_WALLET, SIGN_IN_PAYMENT_ACR: 'one two' }, [/^SIGN_IN_PAYMENT_ACR must /]);
    for (const name of ['CLIENT_ID', 'CLIENT_SECRET', 'PAYMENT_ACR', 'NEW_USERS'])
      expectProblems({ ...COMPLETE, [`SIGN_IN_${name}`]: 'refuse' }, [
        `SIGN_IN_${name} needs SIGN_IN_ISSUER.`,
      ]);
  });

  it.each([
    ...['http://localhost:4000', 'http://127.0.0.1:4000', 'http://[::1]:4000', 'https://wallet.example'],
    ...['https://wallet.example:8443/a/b', 'https://wallet.example/common/v2.0'],
    'https://login.microsoftonline.com/6d3c2a9e-52b4-4f0b-8f6e-0f9a5b1c7d20/v2.0',
  ])('may be %s', (SIGN_IN_ISSUER) => {
    expect(readConfig({ ...AT_WALLET, SIGN_IN_ISSUER }).provider?.issuer).toBe(SIGN_IN_ISSUER);
  });
});

describe('ADMIN_ROLES', () => {
  const BY_USERS = { ...AT_WALLET, ADMIN_PORT: '3100', ADMIN_ROLES: 'groups desk=supports a=b=reads' };

  it('is a claim and its values with roles, at the provider of users or one of its own', () => {
    const roles = {
      claim: 'groups',
      byValue: new Map([
        ['desk', 'supports'],
        ['a=b', 'reads'],
      ]),
    };
    expect(readConfig(BY_USERS).operatorSignIn).toEqual({ roles, provider: null });
    const own = {
      ADMIN_SIGN_IN_ISSUER: 'https://staff.example',
      ADMIN_SIGN_IN_CLIENT_ID: 'desk',
      ADMIN_SIGN_IN_CLIENT_SECRET: 'secret-at-the-staff',
    };
    expect(readConfig({ ...BY_USERS, ...own }).operatorSignIn?.provider).toMatchObject({
      issuer: 'https://staff.example',
      clientId: 'desk',
      clientSecret: 'secret-at-the-staff',
    });
    expect(readConfig(BY_USERS).provider?.issuer).toBe(AT_WALLET.SIGN_IN_ISSUER);
    expect(readConfig(AT_WALLET).operatorSignIn).toBeNull();
  });

  it.each([
    'groups',
    'desk=supports',
    'groups desk',
    'groups desk=boss',
    'groups =reads',
    'groups a=reads a=reads',
  ])('can’t be %s', (ADMIN_ROLES) =>
    expectProblems({ ...BY_USERS, ADMIN_ROLES }, [/^ADMIN_ROLES must be a claim /]),
  );

  it('needs the API and a provider, and what belongs to a provider of its own needs it', () => {
    const { ADMIN_ROLES } = BY_USERS;
    expectProblems({ ...AT_WALLET, ADMIN_ROLES }, ['ADMIN_ROLES needs ADMIN_PORT.']);
    expectProblems({ ...COMPLETE, ADMIN_PORT: '3100', ADMIN_ROLES }, [
      'ADMIN_ROLES needs ADMIN_SIGN_IN_ISSUER or SIGN_IN_ISSUER.',
    ]);
    const ADMIN_SIGN_IN_ISSUER = 'https://staff.example';
    expectProblems({ ...BY_USERS, ADMIN_SIGN_IN_ISSUER }, [
      'ADMIN_SIGN_IN_CLIENT_ID is required when ADMIN_SIGN_IN_ISSUER is set.',
      'ADMIN_SIGN_IN_CLIENT_SECRET is required when ADMIN_SIGN_IN_ISSUER is set.',
    ]);
    expectProblems({ ...BY_USERS, ADMIN_SIGN_IN_CLIENT_ID: 'desk' }, [
      'ADMIN_SIGN_IN_CLIENT_ID needs ADMIN_SIGN_IN_ISSUER.',
    ]);
  });
});

describe('trial mode', () => {
  it.each<Record<string, string>>([
    { BASE_URL: 'http://127.0.0.1:3000' },
    { BASE_URL: 'http://[::1]:3000', HOST: '::1' },
    { BASE_URL: 'http://localhost:3000', HOST: '127.0.0.1', NODE_ENV: 'development' },
  ])('starts at a loopback address: %o', (environment) => {
    expect(readConfig(environment).databaseUrl).toBeNull();
    expect(readDatabaseConfig(environment).databaseUrl).toBeNull();
  });

  it.each<Record<string, string>>([
    { NODE_ENV: 'production' },
    { BASE_URL: 'https://pay.example' },
    { BASE_URL: 'http://192.168.1.7:3000' },
    { BASE_URL: 'https://localhost.pay.example', DATABASE_URL: '' },
  ])(
    'is refused by the server and by commands if the environment looks like production: %o',
    (environment) => {
      for (const read of [readConfig, readDatabaseConfig])
        expectProblems(environment, [/^DATABASE_URL is required: .+\.$/], read);
    },
  );

  it.each(
    ['HOST', 'ADMIN_HOST'].flatMap((name) => ['0.0.0.0', '::', 'pay.example'].map((host) => [name, host])),
  )('refuses a %s that other machines can reach: %s', (name, host) => {
    expectProblems({ [name]: host }, [/^DATABASE_URL is required: .+ADMIN_HOST/]);
    expect(readDatabaseConfig({ [name]: host }).databaseUrl).toBeNull(); // a command listens nowhere
  });
});

describe('a mistyped variable', () => {
  const told = (written: string, meant: string) =>
    `${written} is unknown, and looks like ${meant}, which is not set.`;

  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['DATBASE_URL_FILE', 'DATABASE_URL_FILE'],
    ['TIMEZONE', 'TIME_ZONE'],
    ['TRUST_PROXIES', null],
    ['MAX_CONECTION', 'MAX_CONNECTIONS'],
    ['PG_PASSWORD', 'PGPASSWORD'],
  ])('gives a warning with the similar name, if there is one: %s (similar: %s)', (written, meant) => {
    expect(readConfig({ [written]: 'x' }).warnings).toEqual(meant === null ? [] : [told(written, meant)]);
  });

  it('is reported together with the missing variable that it may explain, and is an error in commands', () => {
    expectProblems({ DATABASE_URL, BASE_URL, SERCETS: SECRETS }, [
      'SECRETS is required when DATABASE_URL is set.',
      told('SERCETS', 'SECRETS'),
    ]);
    const both = [told('DATABSE_URL', 'DATABASE_URL'), /^DATABASE_URL is required/];
    expectProblems({ BASE_URL, DATABSE_URL: 'x' }, both, readDatabaseConfig);
    // A command would use other data, those of the trial.
    expectProblems({ DATABSE_URL: 'x' }, both.slice(0, 1), readDatabaseConfig);
  });

  it('is not reported if it is empty, or if the similar variable is set', () => {
    expect(readConfig({ ...COMPLETE, DATABSE_URL: 'x', SECRET: 'x' }).warnings).toEqual([]);
    expect(readConfig({ DATABSE_URL: '' }).warnings).toEqual([]);
  });

  it('is not assumed for variables whose names are short or less similar', () => {
    const ordinary =
      'PORTS DEMOS BRANDS HOSTNAME SSH_CONNECTION PGDATABASE DATABASE_HOST DATABASE_PORT DATABASE_USER DATABASE_SSL METRICS_HOST METRICS_PATH API_URL APP_URL SITE_URL BASE_PATH ASSENT_PORT ASSENT_OPERATOR';
    const environment = Object.fromEntries(ordinary.split(' ').map((name) => [name, '1']));
    expect(readConfig(environment).warnings).toEqual([]);
  });
});

describe('the effective configuration', () => {
  const of = (environment: Record<string, string>) =>
    Object.fromEntries(
      describeVariables(environment).map(({ variable, value, origin }) => [variable, [value, origin]]),
    );

  it('shows every variable with its origin', () => {
    expect(Object.keys(of({})).toSorted()).toEqual(Object.keys(VARIABLES).toSorted());
    expect(
      of({ PORT: '4000', CATALOGUE: '', ASSENT_OPERATOR: 'olga', PAYMENT_PASSWORD: 'required' }),
    ).toMatchObject({
      PORT: [4000, 'environment'],
      BASE_URL: ['http://localhost:4000', 'default'],
      CATALOGUE: [null, 'default'],
      DATABASE_URL: [null, 'default'],
      BRAND: ['demo/wallet/brand.json', 'default'],
      ASSENT_OPERATOR: ['olga', 'environment'],
      PAYMENT_PASSWORD: ['required', 'environment'],
    });
    expect(of(COMPLETE)).toMatchObject({
      BRAND: [null, 'default'],
      BASE_URL: [COMPLETE.BASE_URL, 'environment'],
    });
  });

  it('shows no secret', () => {
    const address = 'postgres://a:hid@den:x@h:1,i/db?sslmode=require&password=hidden&p%61ssword=hidden\n';
    const environment = {
      BASE_URL,
      DATABASE_URL_FILE: write('url', address),
      PGPASSWORD: 'hidden',
      SECRETS: `${'hidden'.repeat(6)},${'hidden'.repeat(7)}`,
      METRICS_TOKEN: 'hidden'.repeat(6),
      SIGN_IN_ISSUER: AT_WALLET.SIGN_IN_ISSUER,
      SIGN_IN_CLIENT_ID: 'assent',
      SIGN_IN_CLIENT_SECRET_FILE: write('client-secret', 'hidden in a file\n'),
    };
    const said = of(environment);
    expect(JSON.stringify(said)).not.toMatch(/hid|den/);
    expect(said).toMatchObject({
      DATABASE_URL: ['postgres://a@h:1,i/db?sslmode=require&password=…&p%61ssword=…', 'DATABASE_URL_FILE'],
      PGPASSWORD: ['set', 'environment'],
      SECRETS: ['2 set', 'environment'],
      METRICS_TOKEN: ['set', 'environment'],
      SIGN_IN_CLIENT_SECRET: ['set', 'SIGN_IN_CLIENT_SECRET_FILE'],
    });
  });
});

describe('a secret in a file', () => {
  it('is read like the variable, without the final newline of the file', () => {
    const secret = ` it's ${'x'.repeat(32)}\n$HOME `;
    for (const end of ['', '\n', '\r\n']) {
      const file = write('secret', secret + end);
      const given = { PGPASSWORD_FILE: file, SIGN_IN_CLIENT_SECRET: '', SIGN_IN_CLIENT_SECRET_FILE: file };
      const read = { databasePassword: secret, provider: { clientSecret: secret } };
      expect(readConfig({ ...AT_WALLET, ...given })).toMatchObject(read);
    }
    const DATABASE_URL_FILE = write('secret', `${DATABASE_URL}\n`);
    expect(readConfig({ ...COMPLETE, DATABASE_URL: '', DATABASE_URL_FILE })).toMatchObject({
      databaseUrl: DATABASE_URL,
      demo: false,
    });
  });

  const NAMES = ['DATABASE_URL', 'PGPASSWORD', 'SECRETS', 'SIGN_IN_CLIENT_SECRET'];
  it.each(NAMES)('is refused if %s_FILE is unreadable or empty, or its variable is set too', (name) => {
    const others = { ...AT_WALLET, [name]: '' };
    const missing = join(folder, 'missing');
    const variable = `${name}_FILE`;
    expectProblems({ ...others, [variable]: missing }, [`${variable} ${missing} can't be read: ENOENT.`]);
    expectProblems({ ...others, [variable]: folder }, [`${variable} ${folder} can't be read: EISDIR.`]);
    const file = write('secret', '\n');
    expectProblems({ ...others, [variable]: file }, [`${variable} ${file} is empty.`]);
    const value = AT_WALLET[name as 'SECRETS'] ?? 'x';
    const both = { ...AT_WALLET, PGPASSWORD: 'secret', [variable]: write('secret', value) };
    expectProblems(both, [`${name} and ${variable} are both set: unset one of them.`]);
  });

  it('that only the server needs is not read by a command', () => {
    expect(readDatabaseConfig({ DATABASE_URL, SECRETS_FILE: '/nowhere' }).databaseUrl).toBe(DATABASE_URL);
  });
});

/** The end of each mistake in a file. `npm run lint:docs` checks that the sections exist. */
const SEE_BRAND = '; see docs/operate/configuration.md#brand';
const SEE_DIRECTORY = '; see docs/operate/configuration.md#directory';

describe('BRAND', () => {
  it('is Assent by default, and a fictional wallet in trial mode', () => {
    expect(readConfig(COMPLETE).brand).toBe(BUILT_IN_BRAND);
    const { name, logo, accent, support } = readConfig({}).brand;
    expect(name).toEqual({ en: 'Poltino', ru: 'Полтино' });
    expect(logo?.path).toMatch(/^\/oauth\/brand\/logo-[0-9a-f]{32}\.svg$/);
    expect([accent, support?.url]).toEqual([expect.anything(), expect.stringMatching(/\.example/)]);
  });

  it('is read from a file, with the logo in the same folder', () => {
    const body = png(32, 32);
    write('face.png', body);
    const BRAND = write('brand.json', JSON.stringify({ name: 'Pay', logo: 'face.png' }));
    const path = expect.stringMatching(/^\/oauth\/brand\/logo-\w{32}\.png$/);
    const brand = { name: { '': 'Pay' }, logo: { body, path } };
    for (const environment of [{ BRAND }, { ...COMPLETE, BRAND }])
      expect(readConfig(environment).brand).toMatchObject(brand);
  });

  it('is refused with one line per mistake, each with the name of the file', () => {
    const BRAND = write('wrong.json', '{"name":"Pay","logo":"x.svg","more":1}');
    const none = join(folder, 'none.json');
    expectProblems({ ...COMPLETE, BRAND }, [
      `BRAND ${BRAND}: more is unknown${SEE_BRAND}.`,
      `BRAND ${BRAND}: logo x.svg can't be read: ENOENT${SEE_BRAND}.`,
    ]);
    expectProblems({ ...COMPLETE, BRAND: none }, [`BRAND ${none}: can't be read: ENOENT${SEE_BRAND}.`]);
    expectProblems({ ...COMPLETE, BRAND: folder }, [`BRAND ${folder}: is not a regular file${SEE_BRAND}.`]);
    write('logo.svg', svg('', ''));
    write('wrong.json', '{"name":"Pay","logo":"logo.svg"}');
    expectProblems({ ...COMPLETE, BRAND }, [
      new RegExp(`^BRAND ${BRAND}: logo logo.svg needs a viewBox .+${SEE_BRAND}.$`),
    ]);
  });
});

describe('OPERATORS_FILE', () => {
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)];
  const given = { ...COMPLETE, ADMIN_PORT: '3100', ASSENT_OPERATOR: 'deploy' };
  const read = (operators: object) =>
    readConfig({ ...given, OPERATORS_FILE: write('operators.json', JSON.stringify(operators)) }).operators;
  const crm = { role: 'reads', token_sha256: [one] };

  it('names operators by the hashes of their tokens, of which one may have several', () => {
    const billing = {
      role: 'destroys',
      token_sha256: [two, two.replace('2', '3')],
      expires_at: '2027-03-01T03:00:00+03:00',
    };
    expect(read({})).toEqual(new Map());
    expect([...read({ crm, billing })]).toEqual([
      [one, { name: 'crm', role: 'reads', expiresAt: null }],
      ...billing.token_sha256.map((hash) => [
        hash,
        { name: 'billing', role: 'destroys', expiresAt: new Date('2027-03-01') },
      ]),
    ]);
  });

  const HASHES = 'must be a list of SHA-256, each in 64 lower-case hex digits';

  it.each([
    ['[]', 'must be an object that maps names to operators'],
    ['{"crm": 1}', 'crm must be an object with role and token_sha256'],
    ['{"crm": {}, "crm": {}}', 'has crm twice'],
    [`{"crm": {"role": "reads", "token_sha256": [x${one}]}}`, 'is not JSON: [^"]+…[^"]+'],
    [{ crm: { ...crm, role: 'admin' } }, 'crm.role must be one of reads, .+'],
    [{ crm: { ...crm, token_sha256: one } }, `crm.token_sha256 ${HASHES}`],
    [{ crm: { ...crm, token_sha256: [one.slice(1)] } }, `crm.token_sha256.0 ${HASHES}`],
    [{ crm: { ...crm, token_sha256: ['A'.repeat(64)] } }, `crm.token_sha256.0 ${HASHES}`],
    [{ crm: { ...crm, expires_at: '2027-03-01' } }, 'crm.expires_at must be a time such as 2027-.+'],
    [{ crm: { ...crm, days: 90 } }, 'crm.days is unknown'],
    [{ crm, shop: crm }, 'shop.token_sha256 has a hash that is there twice'],
    [{ Deploy: crm }, 'Deploy looks like this service’s own, “deploy”'],
    [{ 'migrate job': crm }, 'migrate.+job looks like this service’s own, “migrate job”'],
    [
      { shop: crm, Shop: { ...crm, token_sha256: [] } },
      'shop looks like .+ “Shop”',
      'Shop looks like .+ “shop”',
    ],
  ])('is refused with a sentence that names the field: %j', (content, ...problems) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const OPERATORS_FILE = write('operators.json', text);
    const see = 'see docs/operate/configuration.md#operators_file';
    const lines = problems.map(
      (problem) => new RegExp(`^OPERATORS_FILE ${OPERATORS_FILE}: ${problem}; ${see}.$`),
    );
    expectProblems({ ...given, OPERATORS_FILE }, lines);
  });

  it('is not read without ADMIN_PORT, which it needs', () => {
    expectProblems({ ...COMPLETE, OPERATORS_FILE: '/nowhere' }, ['OPERATORS_FILE needs ADMIN_PORT.']);
  });
});

describe('DIRECTORY and CATALOGUE', () => {
  it('DIRECTORY is empty by default, and has fictional names in trial mode', () => {
    expect(readConfig(COMPLETE).directory).toBe(NO_TARGET_NAMES);
    expect(readConfig({}).directory.shop.get('337')).toEqual({ en: 'Book World', ru: 'Мир книг' });
  });

  it('are read from files, whose mistakes are reported together', () => {
    const DIRECTORY = write('names.json', '{"shops":{"1":"One"}}');
    expect(readConfig({ ...COMPLETE, DIRECTORY }).directory.shop.get('1')).toEqual({ '': 'One' });
    write('names.json', '{"more":1}');
    const CATALOGUE = write('catalogue.json', '{"account-info": "Look"}');
    expect(readConfig({ ...COMPLETE, CATALOGUE }).catalogue.get('account-info')?.text).toEqual({
      '': 'Look',
    });
    write('catalogue.json', '{"fly": "Fly"}');
    expectProblems({ ...COMPLETE, CATALOGUE, DIRECTORY, BRAND: '/nowhere' }, [
      new RegExp(`^CATALOGUE ${CATALOGUE}: fly is not built in: .+#catalogue.$`),
      `BRAND /nowhere: can't be read: ENOENT${SEE_BRAND}.`,
      `DIRECTORY ${DIRECTORY}: more is unknown${SEE_DIRECTORY}.`,
    ]);
    write('names.json', ' '.repeat(4 * 1024 * 1024 + 1));
    expectProblems({ ...COMPLETE, DIRECTORY }, [
      `DIRECTORY ${DIRECTORY}: has 4194305 bytes, more than the maximum of 4194304${SEE_DIRECTORY}.`,
    ]);
  });
});
