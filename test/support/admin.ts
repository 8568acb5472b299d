import type pg from 'pg';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import { buildAdminApp } from '../../src/admin/server.ts';
import { addSupportPages } from '../../src/admin/support/pages.ts';
import type { OperatorSignIn } from '../../src/admin/support/providerSignIn.ts';
import { BUILT_IN_CATALOGUE } from '../../src/languages/catalogue.ts';
import { BUILT_IN_LANGUAGES } from '../../src/languages/languages.ts';
import { perform } from '../../src/operations/operation.ts';
import * as operators from '../../src/operations/operators.ts';
import type { FileOperators } from '../../src/rules/account/operatorsFile.ts';
import type { AccessLevel } from '../../src/rules/account/role.ts';
import { BUILT_IN_BRAND } from '../../src/rules/face/brand.ts';
import { NO_TARGET_NAMES } from '../../src/rules/face/directory.ts';
import { BUILT_IN_OFFER, type Offer } from '../../src/rules/request/scopeRules.ts';
import { KeyRing } from '../../src/secrets/keyRing.ts';
import { ledger, newSecret, refuse } from './ledger.ts';
import { createDatabase } from './postgres/database.ts';
import { collect } from './server.ts';
import { noteShown } from './traffic.ts';

const SETTINGS = {
  keyRing: new KeyRing([newSecret()]),
  languages: BUILT_IN_LANGUAGES(),
  timeZone: 'Europe/Berlin',
  brand: BUILT_IN_BRAND,
  catalogue: BUILT_IN_CATALOGUE,
  directory: NO_TARGET_NAMES,
  currency: 'RUB',
  baseUrl: 'https://pay.example',
  provider: null,
};

/** The API and its pages alone, until all tests are done or the one that runs with `onTestFinished`. @param logLines where its log goes */
export async function openAdmin(
  db: pg.Pool,
  logLines: string[] = [],
  atTheEnd: (close: () => Promise<void>) => void = afterAll,
  fileOperators: FileOperators = new Map(),
  operatorSignIn: OperatorSignIn | null = null,
  offer: Offer = BUILT_IN_OFFER,
): Promise<string> {
  const names = { serviceNames: () => ['Assent'], commandNames: ['root'] };
  const surroundings = {
    db,
    ...names,
    offer: async () => offer,
    fileOperators: () => fileOperators,
  };
  const log = pino({ level: 'trace' }, collect(logLines));
  const app = buildAdminApp(surroundings, 1_000, log, (to, api) =>
    addSupportPages(to, api, { ...SETTINGS, operatorSignIn }),
  );
  atTheEnd(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

export async function operatorToken(
  db: pg.Pool,
  name: string,
  role: AccessLevel,
  days: number,
): Promise<string> {
  const made = await perform(operators.create, { db, operator: { name: 'tests' } }, { name, role, days });
  ledger.note('operator token', made.operatorToken);
  return made.operatorToken;
}

export async function useAdmin() {
  const database = await createDatabase();
  const logLines: string[] = [];
  afterAll(async () => {
    refuse(ledger.search('the log', logLines));
    await database.drop();
  });
  const url = await openAdmin(database.pool, logLines);
  let made = 0;
  const tokenFor = (role: AccessLevel, days = 1) => {
    made += 1;
    return operatorToken(database.pool, `${role} ${made}`, role, days);
  };
  const own = await tokenFor('destroys', 30);
  return {
    url,
    database,
    logLines,
    tokenFor,
    /** @param what method and path, such as `GET /v1/clients`. By default its operator may do everything. */
    call: (what: string, body?: object, token = own) => callAt(url, what, body, token),
  };
}

export async function callAt(url: string, what: string, body: object | undefined, token: string) {
  const [method = '', path = ''] = what.split(' ');
  const authorization = `Bearer ${token}`;
  const sent = body && { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
  const answer = await fetch(url + path, { method, ...sent, headers: { authorization, ...sent?.type } });
  const text = await answer.text();
  noteShown(text);
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}
