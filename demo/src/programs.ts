import type { Application } from '../../examples/oauthClient.mjs';
import type { Message } from './sessions.ts';

// A request of the shop or the payment API, written as a program. Its values come from the environment:
// a copy neither resends a used code nor contains a secret.

/** `@field` begins a line repeated for every field, with NAME and VARIABLE; `@grant` and `@basic` begin optional lines. */
const PROGRAMS = {
  curl: String.raw`curl -sS URL \
@basic  -u "$RESOURCE_ID:$RESOURCE_SECRET" \
@grant  -d grant_type=authorization_code \
@field  --data-urlencode "NAME=$VARIABLE" \
  -w ' %{http_code}\n'`,

  'Node.js': `const { env } = process;
const answer = await fetch('URL', {
  method: 'POST',
@basic  headers: { authorization: 'Basic ' + btoa(env.RESOURCE_ID + ':' + env.RESOURCE_SECRET) },
  body: new URLSearchParams({
@grant    grant_type: 'authorization_code',
@field    NAME: env.VARIABLE,
  }),
});
console.log(answer.status, await answer.text());`,

  Python: `from os import environ
import requests

answer = requests.post(
    "URL",
@basic    auth=(environ["RESOURCE_ID"], environ["RESOURCE_SECRET"]),
    data={
@grant        "grant_type": "authorization_code",
@field        "NAME": environ["VARIABLE"],
    },
    timeout=10,
)
print(answer.status_code, answer.text)`,

  PHP: `<?php
$curl = curl_init('URL');
curl_setopt_array($curl, [
    CURLOPT_RETURNTRANSFER => true,
@basic    CURLOPT_USERPWD => getenv('RESOURCE_ID') . ':' . getenv('RESOURCE_SECRET'),
    CURLOPT_POSTFIELDS => http_build_query([
@grant        'grant_type' => 'authorization_code',
@field        'NAME' => getenv('VARIABLE'),
    ]),
]);
$text = curl_exec($curl);
echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), ' ', $text;`,

  Go: `form := url.Values{}
@grantform.Set("grant_type", "authorization_code")
@fieldform.Set("NAME", os.Getenv("VARIABLE"))
request, err := http.NewRequest("POST", "URL", strings.NewReader(form.Encode()))
if err != nil {
	log.Fatal(err)
}
request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
@basicrequest.SetBasicAuth(os.Getenv("RESOURCE_ID"), os.Getenv("RESOURCE_SECRET"))
answer, err := http.DefaultClient.Do(request)
if err != nil {
	log.Fatal(err)
}
text, err := io.ReadAll(answer.Body)
fmt.Println(answer.StatusCode, string(text), err)`,
};

/** A message's programs, one per language; none for requests of a browser. */
export function programsFor({ way, sent: { line, headers = [], fields = [] } }: Message): [string, string][] {
  if (way !== 'shopToServer' && way !== 'paymentsToServer') return [];
  const names = fields.map(([name]) => name);
  const parts: Readonly<Record<string, readonly string[]>> = {
    basic: headers.flatMap(([name]) => (name === 'authorization' ? [name] : [])),
    grant: names.filter((name) => name === 'grant_type'),
    field: names.filter((name) => name !== 'grant_type'),
  };
  const write = (_: string, part: string, text: string) =>
    parts[part]?.map((name) => text.replace('NAME', name).replace('VARIABLE', name.toUpperCase())).join('') ??
    '';
  const [, url = ''] = line.split(' ');
  return Object.entries(PROGRAMS).map(([language, text]) => [
    language,
    text.replace('URL', url).replaceAll(/^@(basic|grant|field)(.*\n)/gm, write),
  ]);
}

/** A line that runs an application from `examples/`: one that listens at the redirect URI, or that asks for the answer's address. */
export function commandFor({ server, clientId, clientSecret, redirectUri }: Application): string {
  const [, port] = /^http:\/\/localhost:(\d+)\/callback$/.exec(redirectUri) ?? [];
  const quoted = redirectUri.replaceAll("'", String.raw`'\''`);
  const program = port
    ? `PORT=${port} node examples/shop.mjs`
    : `REDIRECT_URI='${quoted}' bash examples/shop.sh`;
  return `ASSENT_URL=${server} CLIENT_ID=${clientId} CLIENT_SECRET=${clientSecret} ${program}`;
}
