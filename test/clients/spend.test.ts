import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { flowAt } from '../contract/flowAt.ts';
import { freePort, useServer } from '../support/server.ts';
import { callerOf } from './callers.ts';
import {
  describeWith,
  environment,
  exampleFile,
  runBlock,
  startExample,
  useExampleFolder,
} from './examples.ts';
import { spendAs } from './libraries.ts';

// docs/integrate/resources.md, "Let Assent count": its commands and examples/payments/spend.mjs, unchanged; and a payment by
// other languages and libraries.

const server = await useServer({ countsPayments: true });
const { tokenFor } = await flowAt(server);
const client = await server.createClient();
const caller = callerOf(await server.createResource());
const { id, secret } = caller;
const variables = { ASSENT_URL: server.baseUrl, RESOURCE_ID: id, RESOURCE_SECRET: secret };

const PORT = String(await freePort());
const folder = useExampleFolder();
const example = startExample(process.execPath, exampleFile('payments/spend.mjs'), folder, {
  ...variables,
  PORT,
});
afterAll(() => example.stop());
await example.stdout.until(/^POST .+/m);

let payments = 0;

/** Sends a payment to a shop. @returns the status and the result */
async function pay(token: string, changes: Record<string, string> = {}): Promise<string> {
  payments += 1;
  const body = { key: `key-${payments}`, shop: '337', amount: '100', currency: 'RUB', source: 'wallet' };
  const response = await fetch(`http://localhost:${PORT}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ ...body, ...changes }),
  });
  return `${response.status} ${((await response.json()) as { result: string }).result}`;
}

it('examples/payments/spend.mjs pays within the limit, and releases a payment that failed', async () => {
  const token = await tokenFor(client, { scope: 'payment-shop.limit(7,200)' });
  expect(await pay(token, { shop: 'closed', amount: '200' })).toBe('402 released');
  expect(await pay(token, { key: 'one' })).toBe('200 paid');
  expect(await pay(token, { key: 'one' })).toBe('200 paid');
  expect(await pay(token, { key: 'one', amount: '99' })).toBe('409 key_reused');
  expect(await pay(token, { amount: '100.01' })).toBe('403 over_budget');
  expect(await pay(token, { amount: '1,50' })).toBe(
    '400 The parameter amount must be a decimal such as 250.00.',
  );
  expect(await pay('nothing')).toBe('401 invalid_token');
});

describeWith(['bash', 'curl'], 'The curl commands of docs/integrate/resources.md', () => {
  it('reserve a payment, and release it', async () => {
    const token = await tokenFor(client, { scope: 'payment-shop.limit(7,250)', instance_name: 'curl' });
    const reserved = await runBlock('spend', { ...variables, ACCESS_TOKEN: token }, 'resources.md');
    expect(reserved).toMatchObject({ verdict: 'reserved', left: '0' });
    const GRANT_ID = String(reserved.grant_id);
    expect(await runBlock('release-spend', { ...variables, GRANT_ID }, 'resources.md')).toEqual({
      verdict: 'released',
    });
  });
});

/** Sends one payment of AMOUNT to a shop, and prints the answer. */
const PROGRAMS = {
  'spend.py': `
import os, sys
from base64 import b64encode
from urllib.parse import urlencode
from urllib.request import Request, urlopen

env = os.environ
credentials = b64encode(f"{env['RESOURCE_ID']}:{env['RESOURCE_SECRET']}".encode()).decode()
payment = {"key": env["KEY"], "shop": "337", "amount": env["AMOUNT"], "currency": "RUB", "source": "wallet"}
form = urlencode({"token": env["ACCESS_TOKEN"], **payment}).encode()
request = Request(f"{env['ASSENT_URL']}/oauth/spend", form, {"Authorization": f"Basic {credentials}"})
sys.stdout.write(urlopen(request, timeout=8).read().decode())
`,
  'spend.go': `package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func main() {
	form := url.Values{"token": {os.Getenv("ACCESS_TOKEN")}, "key": {os.Getenv("KEY")}, "shop": {"337"},
		"amount": {os.Getenv("AMOUNT")}, "currency": {"RUB"}, "source": {"wallet"}}
	request, _ := http.NewRequest("POST", os.Getenv("ASSENT_URL")+"/oauth/spend", strings.NewReader(form.Encode()))
	request.SetBasicAuth(os.Getenv("RESOURCE_ID"), os.Getenv("RESOURCE_SECRET"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, response.Body)
}
`,
};

type Spend = (token: string, key: string, amount: string) => Promise<object>;

/** Makes a payment that fits its limit, then one that does not. */
async function expectJudged(instance_name: string, spend: Spend): Promise<void> {
  const token = await tokenFor(client, { scope: 'payment-shop.limit(7,250)', instance_name });
  expect(await spend(token, 'one', '200.50')).toMatchObject({ verdict: 'reserved', left: '49.50' });
  const refused = { verdict: 'refused', reason: 'over_budget', left: '49.50' };
  expect(await spend(token, 'two', '49.51')).toMatchObject(refused);
}

for (const [language, command, file] of [
  ['Python', ['python3'], 'spend.py'],
  ['Go', ['go', 'run'], 'spend.go'],
] as const) {
  const [program, ...args] = command;
  describeWith([program], language, () => {
    it('has payments judged with its standard library', async () => {
      writeFileSync(join(folder, file), PROGRAMS[file]);
      await expectJudged(language, async (ACCESS_TOKEN, KEY, AMOUNT) => {
        const env = environment({ ...variables, ACCESS_TOKEN, KEY, AMOUNT });
        const { stdout } = await promisify(execFile)(program, [...args, file], { cwd: folder, env });
        return JSON.parse(stdout);
      });
    }, 60_000);
  });
}

it('openid-client has payments judged, since the answer is an introspection', async () => {
  const payment = { shop: '337', currency: 'RUB', source: 'wallet' };
  await expectJudged('openid-client', (token, key, amount) =>
    spendAs(server, caller, token, { ...payment, key, amount }),
  );
});
