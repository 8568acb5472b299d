/**
 * The floor: Fastify's own cost of a form post answered with JSON. The same Fastify and form parser as the
 * product's, the same requests, the same answers; no database, no rule, no log line, no metric.
 */
import formbody from '@fastify/formbody';
import fastify from 'fastify';

const app = fastify({ logger: false });
await app.register(formbody);

/** @type {Record<string, object>} the product's responses by path */
const answers = JSON.parse(process.env.ANSWERS ?? '{}');
for (const [path, answer] of Object.entries(answers)) {
  app.post(path, async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    return answer;
  });
}
app.get('/health/ready', async () => ({ status: 'ok' }));
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
process.on('SIGTERM', () => app.close());
