import * as cheerio from 'cheerio';
import { noteAnswer, noteRequest } from '../traffic.ts';

export interface Form {
  readonly action: string;
  readonly fields: Record<string, string>;
  readonly inputs: string[];
}

/** An answer, read like a browser would. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly location: string | null;
  /** The `data-page` of the page; null for other answers. */
  readonly page: string | null;
  readonly text: string;
  readonly forms: Form[];
}

type Fields = Record<string, string>;

/** A browser without a screen: keeps cookies, reads forms, and follows no redirect by itself. */
export class Agent {
  readonly baseUrl: string;
  readonly cookies = new Map<string, string>();

  /** Sent with everything, for example by the proxy that this browser is behind. */
  readonly headers: Fields;

  constructor(baseUrl: string, headers: Fields = {}) {
    this.baseUrl = baseUrl;
    this.headers = headers;
  }

  get(url: string, headers: Fields = {}): Promise<Answer> {
    return this.send(url, { headers });
  }

  /** Posts a form. A string body is sent as it is, for tests of what no form would send. */
  post(url: string, fields: Fields | string, headers: Fields = {}): Promise<Answer> {
    const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.send(url, { method: 'POST', body, headers: { ...type, ...headers } });
  }

  /** Fills in the form of a page that has the field or button `name`, and sends it. */
  submit(answer: Answer, name: string, fields: Fields): Promise<Answer> {
    return this.post(formWith(answer, name).action, { ...formWith(answer, name).fields, ...fields });
  }

  async send(url: string, init: Omit<RequestInit, 'headers'> & { headers: Fields }): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...this.headers, ...init.headers };
    noteRequest(init.body, headers);
    const response = await fetch(new URL(url, this.baseUrl), { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return readAnswer(response);
  }

  #keep(line: string): void {
    const [pair = ''] = line.split(';');
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(name.length + 1);
    if (value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** Reads an answer, however it came; its page only when a test asks for it, which would otherwise be most of the work. */
export async function readAnswer(response: Response): Promise<Answer> {
  const body = await response.text();
  noteAnswer(response, body);
  const { status, headers } = response;
  let read: Page | undefined;
  const page = () => {
    read ??= readPage(body);
    return read;
  };
  return {
    status,
    headers,
    body,
    location: headers.get('location'),
    get page() {
      return page().page;
    },
    get text() {
      return page().text;
    },
    get forms() {
      return page().forms;
    },
  };
}

type Page = Pick<Answer, 'page' | 'text' | 'forms'>;

function readPage(body: string): Page {
  const $ = cheerio.load(body);
  const forms = $('form')
    .toArray()
    .map((form): Form => {
      const inputs = $(form).find('input[name], textarea, button[name]').toArray();
      const nameOf = (input: (typeof inputs)[number]) => $(input).attr('name') ?? '';
      const hidden = inputs.filter((input) => $(input).attr('type') === 'hidden');
      return {
        action: $(form).attr('action') ?? '',
        fields: Object.fromEntries(hidden.map((input) => [nameOf(input), $(input).attr('value') ?? ''])),
        inputs: inputs.filter((input) => !hidden.includes(input)).map(nameOf),
      };
    });
  $('style, head').remove();
  const text = $('body').text().replaceAll(/\s+/g, ' ').trim();
  return { page: $('main').attr('data-page') ?? null, text, forms };
}

export function formWith(answer: Answer, name: string): Form {
  const form = answer.forms.find(({ inputs }) => inputs.includes(name));
  if (form === undefined) {
    throw new Error(`the page ${answer.page} (${answer.status}) has no form with ${name}: ${answer.text}`);
  }
  return form;
}
