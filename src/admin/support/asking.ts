import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Row } from '../../operations/snakeCase.ts';
import { OperatorError } from '../../rules/common/error.ts';
import { ENDPOINTS, type Endpoint } from '../endpoints.ts';
import type { AdminApi } from '../server.ts';

/** Values of fields, by their names in the API. */
export type Given = Readonly<Record<string, unknown>>;

/** @param note why, for the audit trail @throws {OperatorError}, and what operations throw */
export type Ask = (endpoint: Endpoint, given: Given, note?: string, isConfirmed?: boolean) => Promise<Row>;

/** Asks the API for the operator of a page's request, from which all but the question is taken. */
export function askFor({ run }: AdminApi, request: FastifyRequest, reply: FastifyReply): Ask {
  return (endpoint, given, note = '', isConfirmed = false) => {
    const partOf = (isPath: boolean) =>
      Object.fromEntries(
        Object.entries(given).filter(([name]) => endpoint.fields.get(name)?.isId === isPath),
      );
    const isQuery = /GET|DELETE/.test(endpoint.method);
    const asked = {
      params: partOf(true),
      query: { ...(isQuery && partOf(false)), ...(isConfirmed && { confirm: 'true' }) },
      body: isQuery ? {} : partOf(false),
      headers: { ...request.headers, 'assent-note': encodeURIComponent(note) },
    };
    const properties = Object.entries(asked).map(([name, value]) => [name, { value }] as const);
    return run(endpoint, Object.create(request, Object.fromEntries(properties)), reply);
  };
}

/** Null if the API refuses: there may be no such thing. */
export function orNull<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof OperatorError) return null;
    throw error;
  });
}

/** What the API refuses is said on the page. */
export async function attempt<Answer>(api: AdminApi, reply: FastifyReply, answer: Promise<Answer>) {
  try {
    return { answer: await answer, status: 200, problem: null };
  } catch (problem) {
    if (!(problem instanceof OperatorError)) throw problem;
    return { answer: null, status: api.noteProblem(problem, reply.request, reply).status, problem };
  }
}

export const formOf = ({ body }: FastifyRequest) =>
  body instanceof URLSearchParams ? body : new URLSearchParams();

/** What a form gives; an empty field gives nothing. */
export function givenBy({ fields, method }: Endpoint, form: Iterable<[string, string]>): Given {
  const read = (name: string, text: string) => {
    const { type, anyOf = [] } = fields.get(name)?.schema ?? {};
    const isText = [type, ...anyOf.map((one) => (one as typeof one & object).type)].includes('string');
    if (isText || /GET|DELETE/.test(method)) return text;
    try {
      return JSON.parse(text);
    } catch {
      return text.split(/[ ,]+/); // such as rights
    }
  };
  const sent = [...form].filter(([name, text]) => fields.has(name) && text !== '');
  return Object.fromEntries(sent.map(([name, text]) => [name, read(name, text.trim())]));
}

export function endpointNamed(name: string): Endpoint {
  const found = ENDPOINTS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the API has no ${name}`);
  return found;
}
