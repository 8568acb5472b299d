import { post, require } from './message.mjs';

/**
 * A form posted to `job.path` with a JSON response: exchange, introspection, and the floor of both. The response must have
 * the form `job.shape`, and the content unique to its request.
 *
 * @type {import('./drive.mjs').Workload}
 */
export const token = {
  prepare: ({ body, holds }, { path, headers }) => ({ request: post(path, body, headers), holds }),

  async ask(connection, { request, holds }, { shape }) {
    const answer = await connection.send(request);
    require(answer.status === 200 && shape.test(answer.body) && answer.body.includes(holds), 'wrong', answer);
  },
};
