import type { Rule } from '../auditor.ts';

/** Signs of an unexpected error in a log. Errors that are foreseen have no stack. */
const UNFORESEEN = /"level":"fatal"|"stack":|Uncaught|UnhandledPromise|node:internal/;

export const ANSWER_RULES: Rule[] = [
  {
    name: 'no response is a 5xx except 503',
    find: ({ entries }) =>
      entries
        .filter(({ status }) => status !== null && status >= 500 && status !== 503)
        .map(({ act, status, ref, during }) => `${act} (${ref}) was answered ${status} (${during})`),
  },
  {
    name: 'every 503 has a Retry-After header',
    find: ({ entries }) =>
      entries
        .filter(({ status, retryAfter }) => status === 503 && !retryAfter)
        .map(({ act, ref }) => `${act} (${ref}) was answered 503 without Retry-After`),
  },
  {
    name: 'no process ends by itself',
    find: ({ lives }) =>
      lives.filter(({ runs, killed }) => !runs && !killed).map(({ name }) => `${name} ended by itself`),
  },
  {
    name: 'no unexpected error is logged',
    find: ({ lives }) =>
      lives.flatMap(({ name, output }) =>
        output
          .split('\n')
          .filter((line) => UNFORESEEN.test(line))
          .map((line) => `${name} logged: ${line.slice(0, 500)}`),
      ),
  },
  { name: 'no log contains a secret', find: ({ leaks }) => [...leaks] },
];
