import type { FastifyInstance } from 'fastify';

// What keeps other sites away from a page that shows passwords and has buttons.

/** Adds the checks and headers that all answers have. @param url of the application itself @param server where its forms lead too */
export function addGuard(app: FastifyInstance, url: string, server: string): void {
  const headers = headersFor(new URL(server).origin);
  const { host } = new URL(url);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const isPost = request.method === 'POST';
    // A name of another site that leads to this machine (DNS rebinding) gets nothing to read.
    if (request.headers.host !== host) return isPost ? reply.code(403).send() : reply.redirect(url, 303);
    // CSRF: the cookie is SameSite=Lax, and browsers say where each post comes from.
    if (isPost && request.headers.origin !== url) return reply.code(403).send();
  });
}

function headersFor(serverOrigin: string) {
  return {
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      "script-src 'self'",
      "connect-src 'self'",
      'img-src data:',
      `form-action 'self' ${serverOrigin}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    // With no-referrer our own forms would be posted with `Origin: null`. The address of the callback has a code in it.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}
