import { Agent } from '../support/http/agent.ts';
import { converse } from '../support/http/rawHttp.ts';
import { ROUTES } from '../support/http/samples.ts';

// Secrets where they do not belong: people and programs make mistakes, and a log must not keep them.

type Fields = Record<string, string>;

/** Every address of the server, and one that is none. */
export const PATHS = new Set(['/nothing', ...ROUTES.map((route) => route.replace(/^\w+ /, ''))]);

/** With a body it is a POST. */
interface Misplacement {
  readonly url?: (path: string) => string;
  readonly headers?: Fields;
  readonly body?: string;
}

/** @param secrets by the name of their field @param others the other fields of right requests @returns each status */
export async function misplaceEverywhere(baseUrl: string, secrets: Fields, others: Fields) {
  const agent = new Agent(baseUrl);
  const statuses: number[] = [];
  for (const path of PATHS) {
    for (const { url = (same: string) => same, headers = {}, body } of misplacements(secrets, others)) {
      const init = body === undefined ? {} : { method: 'POST', body };
      statuses.push((await agent.send(url(path), { ...init, headers })).status);
    }
  }
  return statuses;
}

function misplacements(secrets: Fields, others: Fields): Misplacement[] {
  const form = new URLSearchParams({ ...others, ...secrets }).toString();
  const text = encodeURIComponent(Object.values(secrets).join(' '));
  const ofClient = `client_id=${others.client_id}&response_type=code`;
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
  return [
    { url: (path) => `${path}?${form}` },
    { url: (path) => `${path}?${text}` },
    { url: (path) => `${path};${form}` },
    { url: (path) => `${path}%3F${form}` },
    { url: (path) => `/%zz${path}?${form}` },
    { url: (path) => `${path === '/' ? '' : path}/${secrets.token}` },
    { url: (path) => `${path}=${text}` },
    { url: () => `/${text}` },
    { url: () => `/${secrets.client_secret}` },
    { headers: { 'sec-fetch-dest': text } },
    { headers: oddHeaders(text) },
    { headers: { authorization: `Bearer ${text}` } },
    { headers: { authorization: `Basic ${text}` } },
    { headers: { authorization: text } },
    { headers: { cookie: `assent_session=${text}; assent_visit=${text}; ${text}; ${text}=x` } },
    { headers: { 'x-too-long': text.repeat(100) } },
    { headers: asForm, body: form },
    { headers: asForm, body: `${form}&${form}` },
    { headers: asForm, body: `${form}%ZZ` },
    { headers: asForm, body: `request=${encodeURIComponent(form)}` },
    { headers: asForm, body: `${ofClient}&redirect_uri=${others.redirect_uri}&state=${text}&scope=${text}` },
    { headers: asForm, body: `${ofClient}&redirect_uri=${others.redirect_uri}/${text}` },
    { headers: asForm, body: `${text}=x&client_id=${text}&login=${text}&scope=${text}` },
    { headers: asForm, body: `${form}&${'x'.repeat(100_000)}&${form}` },
    { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...others, ...secrets }) },
    { headers: { 'content-type': `multipart/form-data; boundary=${text}` }, body: `--${text}--` },
    { headers: { 'content-type': text }, body: text },
  ];
}

/** Headers that proxies, browsers and programs add, and one that nobody knows. */
function oddHeaders(text: string): Fields {
  const url = `https://shop.example/callback?code=${text}`;
  return {
    accept: text,
    cookie2: text,
    forwarded: `for="${text}"`,
    from: text,
    'if-none-match': text,
    origin: url,
    'proxy-authorization': `Basic ${text}`,
    referer: url,
    'sec-fetch-site': text,
    'set-cookie': text,
    traceparent: text,
    'user-agent': text,
    'x-api-key': text,
    'x-forwarded-for': text,
    'x-forwarded-host': text,
    'x-forwarded-proto': text,
    'x-request-id': text,
  };
}

/** Sends what is hardly HTTP, or ends in the middle of it. @returns the statuses of the answers */
export async function sendBroken(baseUrl: string, secret: string): Promise<number[]> {
  const line = `token=${secret}`;
  const form = 'Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\n';
  const texts = [
    `${line}\r\n\r\n`,
    `GET /?${line} HTTP/9.9\r\n\r\n`,
    `GET /?${line} HTTP/1.1\r\nno colon ${line}\r\n\r\n`,
    `${secret} / HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET http://${secret}/?${line} HTTP/1.1\r\nHost: ${secret}\r\nConnection: close\r\n\r\n`,
    `POST /oauth/token HTTP/1.1\r\n${form}Content-Length: ${secret}\r\n\r\n${line}`,
    `POST /oauth/token HTTP/1.1\r\n${form}Transfer-Encoding: chunked\r\n\r\n${line}\r\n`,
    `POST /oauth/token HTTP/1.1\r\n${form}Transfer-Encoding: ${secret}\r\n\r\n${line}`,
    `POST /oauth/token HTTP/1.1\r\n${form}Expect: ${secret}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    `POST /oauth/revoke HTTP/1.1\r\n${form}Content-Length: 1000\r\n\r\n${line}`,
    `GET / HTTP/1.1\r\nHost: x\r\nUpgrade: ${secret}\r\nConnection: upgrade\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\n${secret}: ${'x'.repeat(40_000)}\r\n\r\n`,
  ];
  const all = await Promise.all(texts.map((text) => converse(baseUrl, text, { hangUp: true })));
  return all.flatMap(({ answers }) => answers.map(({ status }) => status));
}
