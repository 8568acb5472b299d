import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { useDatabase } from '../support/postgres/database.ts';
import { CHECKOUT, readFile, useFolder } from '../support/process/folder.ts';
import { onDatabase, runAssent, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';
import { describeWith, environment } from './examples.ts';

// Clients of the operators' API that the generators of docs/operate/api.md make of docs/openapi.json: each creates an
// application, lists it and blocks it, and creates a user with and one without a payment password.

const page = readFile('docs/operate/api.md');
const [, lines = ''] = /<!-- generated clients -->\n```sh\n(.+?)```/s.exec(page) ?? [];
const lineWith = (generator: string) => lines.split('\n').find((line) => line.includes(generator)) ?? 'false';

// The packages are not dependencies of Assent: `npm ci --prefix test/clients/openapi` installs them.
const PACKAGES = join(CHECKOUT, 'test/clients/openapi/node_modules');
const isInstalled = existsSync(join(PACKAGES, 'openapi-typescript'));
const found = isInstalled ? '' : ' (test/clients/openapi is not installed: skipped)';

const database = await useDatabase();
const folder = useFolder();
mkdirSync(join(folder, 'docs'));
copyFileSync(join(CHECKOUT, 'docs/openapi.json'), join(folder, 'docs/openapi.json'));
let server: ServerProcess;
let variables: Record<string, string>;

beforeAll(async () => {
  const port = String(await freePort());
  const settings = onDatabase(database.url);
  server = await spawnServer({ ...settings, ADMIN_PORT: port });
  const created = await runAssent('operator create generated --role changes --json'.split(' '), settings);
  const token = JSON.parse(created.stdout).operator_token as string;
  const url = `http://localhost:${port}`;
  await vi.waitUntil(() => fetch(url).catch(() => undefined), { timeout: 60_000 });
  variables = environment({ ASSENT_URL: url, ASSENT_TOKEN: token, npm_config_offline: 'true' });
});

afterAll(() => server.stop());

async function run(program: string, ...args: string[]): Promise<string> {
  const options = { cwd: folder, env: variables, encoding: 'utf8' } as const;
  const failed = ({ message, stdout = '' }: Error & { stdout?: string }) => {
    throw new Error(`${message}\n${stdout}`);
  };
  return (await promisify(execFile)(program, args, options).catch(failed)).stdout;
}

/** Each program prints the names of the applications, the status of the last, and the refusal of a wrong request. */
const expectDone = async (printed: string, name: string) => {
  const { names, status, refused } = JSON.parse(printed) as Record<string, unknown>;
  expect(names).toContain(name);
  expect([status, refused]).toEqual(['blocked', { status: 404, rule: 'not_found' }]);
  // No client sends a field that was left out, not even as the word null.
  const { rows } = await database.pool.query(
    'select login, payment_password_hash is null as none from users where name = $1 order by login',
    [name],
  );
  expect(rows).toEqual([
    { login: `${name}-both`, none: false },
    { login: `${name}-none`, none: true },
  ]);
};

const TYPESCRIPT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './assent.js';

const { ASSENT_URL: baseUrl = '', ASSENT_TOKEN } = process.env;
const api = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${ASSENT_TOKEN}\` } });
const body = { name: 'TypeScript', redirect_uri: 'https://typescript.example/callback' };
const { data: made, error } = await api.POST('/v1/clients', { body });
if (made === undefined) throw new Error(error.detail);
const user = { name: 'TypeScript', password: 'tea-kettle-81-blue' };
await api.POST('/v1/users', { body: { ...user, login: 'TypeScript-none' } });
await api.POST('/v1/users', { body: { ...user, login: 'TypeScript-both', payment_password: 'violet-spoon-17-jar' } });
const { data: list } = await api.GET('/v1/clients');
const items: components['schemas']['Application'][] = list?.items ?? [];
const path = { client_id: made.client_id };
const { data: blocked } = await api.POST('/v1/clients/{client_id}/block', { params: { path } });
const unknown = await api.GET('/v1/clients/{client_id}', { params: { path: { client_id: 'x' } } });
const { status, rule } = unknown.error ?? {};
console.log(JSON.stringify({
  names: items.map(({ name }) => name),
  status: blocked?.status satisfies 'active' | 'blocked' | undefined,
  refused: { status, rule },
}));

export async function neverCalled() {
  // @ts-expect-error the redirect URI is missing
  await api.POST('/v1/clients', { body: { name: 'TypeScript' } });
  // @ts-expect-error there is no such address
  await api.GET('/v1/nothing');
  // @ts-expect-error applications have no such field
  return items[0]?.client_secret;
}
`;

const PYTHON = `
import json, os
from assent_for_operators_client import AuthenticatedClient
from assent_for_operators_client.api.clients import clients_block, clients_create, clients_list, clients_show
from assent_for_operators_client.api.users import users_create
from assent_for_operators_client.models import ClientsCreateBody, UsersCreateBody

api = AuthenticatedClient(base_url=os.environ["ASSENT_URL"], token=os.environ["ASSENT_TOKEN"])
body = ClientsCreateBody(name="Python", redirect_uri="https://python.example/callback")
made = clients_create.sync(client=api, body=body)
user = {"name": "Python", "password": "tea-kettle-81-blue"}
users_create.sync(client=api, body=UsersCreateBody(login="Python-none", **user))
users_create.sync(client=api, body=UsersCreateBody(login="Python-both", payment_password="violet-spoon-17-jar", **user))
listed = clients_list.sync(client=api)
blocked = clients_block.sync(made.client_id, client=api)
problem = clients_show.sync("x", client=api)
print(json.dumps({
    "names": [one.name for one in listed.items],
    "status": blocked.status,
    "refused": {"status": problem.status, "rule": problem.rule},
}))
`;

/** A Go program. @param before what stands above main @param body what sets names, blocked and problem */
const goProgram = (imports: string, before: string, body: string) => `package main

import (
	"context"
	"encoding/json"
${imports}
	"example.com/shop/assent"
)

${before}
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	names := []string{}
${body}
	refused := map[string]any{"status": problem.Status, "rule": problem.Rule}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"names": names, "status": blocked.Status, "refused": refused})
}
`;

/** For the two generators: what differs is how a value is given and an answer is read. */
const GO = {
  'oapi-codegen': goProgram(
    '	"net/http"\n	"os"\n',
    '',
    `	bearer := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("ASSENT_TOKEN"))
		return nil
	}
	api := must(assent.NewClientWithResponses(os.Getenv("ASSENT_URL"), assent.WithRequestEditorFn(bearer)))
	made := must(api.ClientsCreateWithResponse(ctx, assent.ClientsCreateJSONRequestBody{Name: "oapi-codegen", RedirectUri: "https://go.example/callback"}))
	password, payment := "tea-kettle-81-blue", "violet-spoon-17-jar"
	user := assent.UsersCreateJSONRequestBody{Login: "oapi-codegen-none", Name: "oapi-codegen", Password: &password}
	must(api.UsersCreateWithResponse(ctx, user))
	user.Login, user.PaymentPassword = "oapi-codegen-both", &payment
	must(api.UsersCreateWithResponse(ctx, user))
	for _, one := range must(api.ClientsListWithResponse(ctx, nil)).JSON200.Items {
		names = append(names, one.Name)
	}
	blocked := must(api.ClientsBlockWithResponse(ctx, made.JSON201.ClientId)).JSON200
	problem := must(api.ClientsShowWithResponse(ctx, "x")).ApplicationproblemJSON404`,
  ),
  ogen: goProgram(
    '	"os"\n',
    `type token struct{}

func (token) Bearer(context.Context, assent.OperationName) (assent.Bearer, error) {
	return assent.Bearer{Token: os.Getenv("ASSENT_TOKEN")}, nil
}
`,
    `	api := must(assent.NewClient(os.Getenv("ASSENT_URL"), token{}))
	made := must(api.ClientsCreate(ctx, &assent.ClientsCreateReq{Name: "ogen", RedirectURI: "https://go.example/callback"})).(*assent.ClientsCreateCreated)
	user := assent.UsersCreateReq{Login: "ogen-none", Name: "ogen", Password: assent.NewOptNilString("tea-kettle-81-blue")}
	must(api.UsersCreate(ctx, &user))
	user.Login, user.PaymentPassword = "ogen-both", assent.NewOptNilString("violet-spoon-17-jar")
	must(api.UsersCreate(ctx, &user))
	for _, one := range must(api.ClientsList(ctx, assent.ClientsListParams{})).(*assent.ClientsListOK).Items {
		names = append(names, one.Name)
	}
	blocked := must(api.ClientsBlock(ctx, assent.ClientsBlockParams{ClientID: made.ClientID})).(*assent.ClientsBlockOK)
	problem := must(api.ClientsShow(ctx, assent.ClientsShowParams{ClientID: "x"})).(*assent.ClientsShowNotFound)`,
  ),
};

it.skipIf(!isInstalled)(`openapi-typescript makes types for a program that works${found}`, async () => {
  symlinkSync(PACKAGES, join(folder, 'node_modules'), 'junction');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'shop.ts'), TYPESCRIPT);
  await run('sh', '-c', lineWith('openapi-typescript'));
  const options = ['--strict', '--noUncheckedIndexedAccess', '--module', 'nodenext', '--target', 'es2023'];
  const types = ['--typeRoots', join(CHECKOUT, 'node_modules/@types'), '--types', 'node'];
  await run(process.execPath, join(CHECKOUT, 'node_modules/.bin/tsc'), ...options, ...types, 'shop.ts');
  await expectDone(await run(process.execPath, 'shop.js'), 'TypeScript');
});

describeWith(['python3', 'openapi-python-client'], 'openapi-python-client', () => {
  it('generates a client for a program that works', async () => {
    await run('sh', '-c', lineWith('openapi-python-client'));
    writeFileSync(join(folder, 'assent-for-operators-client/shop.py'), PYTHON);
    await expectDone(await run('python3', 'assent-for-operators-client/shop.py'), 'Python');
  });
});

describe.each(Object.entries(GO))('%s', (generator, program) => {
  describeWith(['go', generator], generator, () => {
    it('generates a client for a program that compiles and works', async () => {
      const home = join(folder, generator);
      mkdirSync(join(home, 'assent'), { recursive: true });
      mkdirSync(join(home, 'docs'));
      copyFileSync(join(CHECKOUT, 'docs/openapi.json'), join(home, 'docs/openapi.json'));
      writeFileSync(join(home, 'shop.go'), program);
      const line = lineWith(`${generator} `).replace('-o assent.go', '-o assent/assent.go');
      // With the network of the Go module proxy, or modules that are there already.
      const steps = [line, 'go mod init example.com/shop', 'go mod tidy', 'go run .'];
      const printed = await run('sh', '-ec', `cd ${generator}\n${steps.join(' >&2\n')}`);
      await expectDone(printed, generator);
    }, 600_000);
  });
});
