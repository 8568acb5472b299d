import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createRole, ownName, useDatabase } from '../support/postgres/database.ts';
import { urlOf } from '../support/postgres/postgres.ts';
import { readFile } from '../support/process/folder.ts';
import { runAssent, spawnServer } from '../support/process/process.ts';
import { versionOf } from '../support/process/program.ts';

type Variables = Record<string, string>;
interface Service {
  readonly environment: Variables;
  readonly restart?: string;
  readonly depends_on?: Record<string, { condition: string }>;
}
const TEXT = readFile('docker-compose.yml');
/** Compose replaces these: a variable with a default, and an escaped dollar sign. */
const PLACES = /\$\$|\$\{(\w+):-([^}]*)\}/g;

/** The file as Compose reads it, which replaces them after it parsed the YAML. */
function composeWith(variables: Variables) {
  const fill = (_key: unknown, value: unknown) =>
    typeof value !== 'string'
      ? value
      : value.replace(PLACES, (place, name: string, otherwise: string) =>
          place === '$$' ? '$' : variables[name] || otherwise,
        );
  return parse(TEXT, fill, { merge: true });
}

const { services, configs } = composeWith({});

describe('docker-compose.yml', () => {
  it('needs no variables', () => {
    expect(TEXT.match(PLACES)?.length).toBeGreaterThan(3);
    expect(TEXT.replaceAll(PLACES, '')).not.toContain('$');
  });

  it('has no password in a URL or a statement', () => {
    const password = `it's p@ss/w:rd`;
    const filled = composeWith({ POSTGRES_PASSWORD: password, SERVER_PASSWORD: password });
    expect(filled.configs).toEqual(configs);
    for (const [, { environment, ...rest }] of Object.entries<Service>(filled.services)) {
      expect(JSON.stringify(rest)).not.toContain(password);
      const others = Object.values(environment).filter((value) => value !== password);
      expect(others.join('\n')).not.toContain(password);
      for (const value of others) if (URL.canParse(value)) expect(new URL(value).password).toBe('');
    }
  });
});

/** The script reads a variable of the environment, which an older psql can't. */
const psqlVersion = Number(versionOf(['psql', '--version'], /(\d+)/) ?? 0);

/** Characters that quoting, psql, a shell or a URL could change. */
const NASTY = ` -it's p@ss/w:rd "double" \`back\` \\back\\slash\\ $HOME \${HOME} $$ $(id) :'password' :password :"password" %41%zz #hash?query&more=1,2;3 Пароль, 密码 🔑 `;

describe.runIf(psqlVersion >= 14)('the database set-up of docker-compose.yml (needs psql 14)', async () => {
  const database = await useDatabase();
  /** Runs the script as the image of PostgreSQL does, with other names. @returns the new names of roles by those in the file */
  async function setUp({ services, configs }: ReturnType<typeof composeWith>) {
    const superuser = await createRole('superuser', services.postgres.environment.POSTGRES_PASSWORD);
    const names = { postgres: superuser.name, assent: ownName(), assent_server: ownName() };
    const named = /(?<= (?:role|owner|database) )(postgres|assent_server|assent)\b/g;
    const { content } = configs.roles;
    const input = content.replaceAll(named, (name: string) => names[name as keyof typeof names]);
    const url = urlOf(database.url, { user: superuser.name, password: '' });
    const args = ['-v', 'ON_ERROR_STOP=1', '--no-password', '--no-psqlrc', url];
    const { PATH = '' } = process.env;
    const PGOPTIONS = '-c password_encryption=scram-sha-256';
    const ours = { LC_ALL: 'C.UTF-8', PGPASSWORD: superuser.password, PGOPTIONS };
    const env = { PATH, ...services.postgres.environment, ...ours };
    execFileSync('psql', args, { env, input, stdio: ['pipe', 'ignore', 'pipe'] });
    return names;
  }

  it('leaves the superuser without a password, and makes another role the owner of the tables', async () => {
    const names = await setUp({ services, configs });
    const { rows } = await database.pool.query(
      `select rolname as name, rolsuper as super, rolpassword is null as locked from pg_authid
          where rolname = any ($1) order by rolsuper`,
      [[names.postgres, names.assent]],
    );
    expect(rows).toEqual([
      { name: names.assent, super: false, locked: false },
      { name: names.postgres, super: true, locked: true },
    ]);
  });

  it('lets the owner migrate and the server serve, with any characters in passwords', async () => {
    const [POSTGRES_PASSWORD, SERVER_PASSWORD] = [`${NASTY}1`, `${NASTY}2`];
    const compose = composeWith({ POSTGRES_PASSWORD, SERVER_PASSWORD });
    const { migrate, assent } = compose.services;
    const names = await setUp(compose);
    const role = names.assent_server;
    const here = ({ environment }: Service, user: string): Variables => ({
      ...environment,
      DATABASE_URL: urlOf(database.url, { database: names.assent, user, password: '' }),
    });
    const [, ...args] = migrate.command ?? [];
    const migrated = await runAssent(
      args.map((arg: string) => (arg === 'assent_server' ? role : arg)),
      here(migrate, names.assent),
    );
    expect(migrated.stderr).toContain(`\n${role} may read and write rows, but not change tables\n`);
    const { BASE_URL: _, ...variables } = here(assent, role);
    const doctor = await runAssent(['doctor'], here(assent, role));
    expect(doctor.stdout).toMatch(/^ok +the role \w+ may read and write rows/m);
    expect(await (await spawnServer(variables)).stop()).toBe(0);
  });

  it('creates the roles and the database that the services connect with', () => {
    const { postgres, migrate, assent } = services;
    expect(configs.roles.content).toMatch(
      /create role assent login .+ role assent_server login .+ database assent /s,
    );
    expect(migrate.environment.DATABASE_URL).toBe('postgres://assent@postgres:5432/assent');
    expect(assent.environment.DATABASE_URL).toBe('postgres://assent_server@postgres:5432/assent');
    expect(migrate.environment.PGPASSWORD).toBe(postgres.environment.POSTGRES_PASSWORD);
    expect(assent.environment.PGPASSWORD).toBe(postgres.environment.SERVER_PASSWORD);
  });
});
