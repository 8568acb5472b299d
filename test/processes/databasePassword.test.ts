import { expect, it } from 'vitest';
import { grantServerRole } from '../../src/store/schema/serverRole.ts';
import { ledger } from '../support/ledger.ts';
import { createRole, useDatabase } from '../support/postgres/database.ts';
import { urlOf } from '../support/postgres/postgres.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { runAssent, spawnServer } from '../support/process/process.ts';
import { freePort, TEST_SECRET } from '../support/server.ts';

// Docker and Kubernetes pass secrets in a variable of their own, or as a file.
const database = await useDatabase();
const BASE_URL = 'http://localhost:3000';
const PASSWORD = `-it's a p@ss/w:rd "of" \\ $HOME %41 ключ`;
const folder = useFolder();

const { name } = await createRole('', PASSWORD);
await grantServerRole(database.pool, name, 'tests');
ledger.note('database password', PASSWORD);
const url = urlOf(database.url, { user: name, password: '' });
const byVariable = { DATABASE_URL: url, PGPASSWORD: PASSWORD, SECRETS: TEST_SECRET, BASE_URL };
const byFile = {
  DATABASE_URL_FILE: fileIn(folder, 'url', `${url}\n`),
  PGPASSWORD_FILE: fileIn(folder, 'password', `${PASSWORD}\n`),
  SECRETS_FILE: fileIn(folder, 'secrets', `${TEST_SECRET}\n`),
  BASE_URL,
};

it('the password of PGPASSWORD_FILE is used by the server and by every command', async () => {
  const { BASE_URL: _, ...others } = byFile;
  const server = await spawnServer(others);
  expect(await server.stop()).toBe(0);
  const { assent } = commandsOn(byFile);
  for (const line of ['migrate', 'client list', 'resource create --name API', 'audit --limit 1'])
    expect({ line, ...(await assent(line)) }).toMatchObject({ line, code: 0 });
  expect((await assent('doctor')).stdout).toContain('PostgreSQL answers');
});

it('a missing password is reported at once, with the variable', async () => {
  for (const command of [['serve'], ['client', 'list']]) {
    const asks = /PostgreSQL: it requires a password: set PGPASSWORD or PGPASSWORD_FILE\n$/;
    const run = await runAssent(command, { ...byVariable, PGPASSWORD: '', PORT: String(await freePort()) });
    expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(asks)]);
  }
});

it('the password in DATABASE_URL takes precedence', async () => {
  const DATABASE_URL = urlOf(url, { password: PASSWORD });
  await commandsOn({ ...byVariable, DATABASE_URL, PGPASSWORD: 'another p@ss/w:rd' }).json('client list');
});
