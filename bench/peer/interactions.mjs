import { text } from 'node:stream/consumers';

/**
 * The pages that the provider leaves to its operator, as in its documentation: sign-in without a password, and
 * consent. They are as plain as possible.
 */
export function interactions(provider) {
  return async (request, response) => {
    try {
      const [, , , action] = request.url.split('/');
      await (ACTIONS[action ?? 'show'] ?? notFound)(provider, request, response);
    } catch (error) {
      const body = String(error.stack);
      response.writeHead(500, { 'content-length': Buffer.byteLength(body) }).end(body);
    }
  };
}

const ACTIONS = { show, login: signIn, confirm };

async function show(provider, request, response) {
  const { uid, prompt, params } = await provider.interactionDetails(request, response);
  const action = prompt.name === 'login' ? 'login' : 'confirm';
  const body = `<!doctype html><title>${prompt.name}</title><h1>${params.client_id} asks for ${params.scope}</h1>
<form method="post" action="/interaction/${uid}/${action}"><input name="login"><button>Continue</button></form>`;
  response
    .writeHead(200, { 'content-type': 'text/html', 'content-length': Buffer.byteLength(body) })
    .end(body);
}

async function signIn(provider, request, response) {
  const accountId = new URLSearchParams(await text(request)).get('login');
  await provider.interactionFinished(request, response, { login: { accountId } });
}

async function confirm(provider, request, response) {
  await text(request);
  const { grantId, params, session } = await provider.interactionDetails(request, response);
  const earlier = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = earlier ?? new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

async function notFound(_provider, _request, response) {
  response.writeHead(404).end();
}
