import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { deliver, formatKey } from '../../src/notify/deliver.ts';
import { KeyRing } from '../../src/secrets/keyRing.ts';
import { newSecret } from '../support/ledger.ts';
import { readFile } from '../support/process/folder.ts';
import { environment, useExampleFolder } from './examples.ts';

// The calls of docs/integrate/events.md verify what `assent notify` posts, by the libraries of others.

/** Of a later value of SECRETS, the present one, and an unknown one. */
const KEYS = [newSecret(), newSecret(), newSecret()].flatMap((secret) =>
  new KeyRing([secret]).webhookKeys('client:shop'),
);
const [NEW, OLD, UNKNOWN] = KEYS.map(formatKey);

interface Posted {
  readonly headers: object;
  readonly body: string;
}

/** What a receiver gets during a change of SECRETS. */
async function post(): Promise<Posted> {
  const server = createServer(async (request, response) => {
    server.emit('posted', { headers: request.headers, body: await text(request) });
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  const posted = once(server, 'posted');
  const message = {
    id: newSecret(),
    body: { type: 'authorization.ended', data: { instance_name: 'Küche' } },
  };
  await deliver({ name: 'client:shop', url, isInternal: true }, KEYS.slice(0, 2), message);
  server.close();
  return (await posted)[0];
}

interface Language {
  readonly file: string;
  /** Around the calls: a program that reads BODY and HEADERS, and fails for a wrong signature. */
  readonly program: (calls: string) => string;
  readonly run: string[];
  /** Brings the library, or finds it; where this fails, the test is skipped. */
  readonly prepare: string;
}

const JAR = `${homedir()}/.m2/repository/com/standardwebhooks/standardwebhooks/1.1.0/standardwebhooks-1.1.0.jar`;

const LANGUAGES: Readonly<Record<string, Language>> = {
  JavaScript: {
    file: 'verify.mjs',
    program: (code) => `import { Webhook } from 'standardwebhooks';
const { BODY: body, HEADERS, WEBHOOK_SECRET: secret } = process.env;
let event;
const request = { headers: JSON.parse(HEADERS) };
${code}
if (event.type !== 'authorization.ended') process.exit(1);`,
    run: ['node', 'verify.mjs'],
    prepare: 'true',
  },
  Python: {
    file: 'verify.py',
    program: (code) => `import json, os
from types import SimpleNamespace
from standardwebhooks.webhooks import Webhook
secret = os.environ["WEBHOOK_SECRET"]
body = os.environ["BODY"].encode()
request = SimpleNamespace(headers=json.loads(os.environ["HEADERS"]))
${code}
assert event["type"] == "authorization.ended"`,
    run: ['python3', 'verify.py'],
    prepare: 'python3 -c "import standardwebhooks"',
  },
  Go: {
    file: 'verify.go',
    program: (code) => `package main
import (
	"encoding/json"
	"net/http"
	"os"
	"github.com/standard-webhooks/standard-webhooks/libraries/go"
)
func main() {
	body := []byte(os.Getenv("BODY"))
	secret := os.Getenv("WEBHOOK_SECRET")
	headers := map[string]string{}
	json.Unmarshal([]byte(os.Getenv("HEADERS")), &headers)
	request := &http.Request{Header: http.Header{}}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	${code}
	if err != nil {
		os.Exit(1)
	}
}`,
    run: ['go', 'run', 'verify.go'],
    // With the network of the Go module proxy, or the module that is there already.
    prepare: 'go mod init example.com/verify && go mod tidy',
  },
  Java: {
    file: 'Verify.java',
    program: (code) => `import com.standardwebhooks.Webhook;
import java.util.*;
class Verify {
  public static void main(String[] words) throws Exception {
    String body = System.getenv("BODY"), secret = System.getenv("WEBHOOK_SECRET");
    Map<String, List<String>> headers = new HashMap<>();
    for (String name : List.of("webhook-id", "webhook-timestamp", "webhook-signature"))
      headers.put(name, List.of(System.getenv("HEADERS").replaceAll(".*\\"" + name + "\\":\\"([^\\"]+).*", "$1")));
    ${code};
  }
}`,
    run: ['java', '-cp', JAR, 'Verify.java'],
    prepare: `java -version && test -e '${JAR}'`,
  },
};

const page = readFile('docs/integrate/events.md');

/** The code in the last cell of the language's row, without what it says of types. */
function callsIn(language: string): string {
  const [, cell = ''] = new RegExp(`^\\| ${language}\\b.*\\| (.+) \\|$`, 'm').exec(page) ?? [];
  return [...cell.matchAll(/`([^`]+\))`/g)].map(([, call]) => call).join('\n');
}

const folder = useExampleFolder();
for (const [language, { file, program }] of Object.entries(LANGUAGES))
  writeFileSync(join(folder, file), program(callsIn(language)));

/** Skips those that can't run here. */
const rows = Object.entries(LANGUAGES).map(([language, { run, prepare }]) => {
  const { status } = spawnSync('sh', ['-c', prepare], { cwd: folder, env: environment({}) });
  return { language, run, isInstalled: status === 0 };
});

for (const { language, run, isInstalled } of rows)
  it.skipIf(!isInstalled)(
    `a receiver in ${language} verifies a message with the old and the new secret, and no other message`,
    async () => {
      const { headers, body } = await post();
      function verify(WEBHOOK_SECRET = '', BODY = body) {
        const [command = '', ...args] = run;
        const variables = { WEBHOOK_SECRET, BODY, HEADERS: JSON.stringify(headers), LC_ALL: 'C.UTF-8' };
        const options = { cwd: folder, env: environment(variables), encoding: 'utf8' } as const;
        const { status, stderr } = spawnSync(command, args, options);
        return { isVerified: status === 0, stderr };
      }
      for (const secret of [NEW, OLD]) expect(verify(secret)).toEqual({ isVerified: true, stderr: '' });
      expect(verify(UNKNOWN).isVerified).toBe(false);
      expect(verify(NEW, body.replace('ended', 'begun')).isVerified).toBe(false);
    },
    600_000,
  );
