import { loginOf, PASSWORD, REDIRECT_URI, SCOPE } from '../../people.mjs';
import { USERS } from '../../settings.mjs';
import { SHOP } from './server.mjs';

/** Introspection answers only callers in the token's audience. */
export const PAYMENTS = { id: 'payments', secret: 'a-secret-of-payments' };
const DAY_SECONDS = 24 * 3600;

/** One application with consent and lightweight access tokens: it has no opaque ones. */
export function realm() {
  const secrets = {
    publicClient: false,
    clientAuthenticatorType: 'client-secret',
    protocol: 'openid-connect',
  };
  const shop = {
    ...secrets,
    clientId: SHOP.id,
    secret: SHOP.secret,
    name: 'Shop',
    standardFlowEnabled: true,
    consentRequired: true,
    fullScopeAllowed: false,
    redirectUris: [REDIRECT_URI],
    defaultClientScopes: [],
    optionalClientScopes: SCOPE.split(' '),
    attributes: { 'use.refresh.tokens': 'false', 'client.use.lightweight.access.token.enabled': 'true' },
  };
  const payments = { ...secrets, clientId: PAYMENTS.id, secret: PAYMENTS.secret, standardFlowEnabled: false };
  return {
    realm: 'bench',
    enabled: true,
    accessCodeLifespan: 600,
    accessTokenLifespan: DAY_SECONDS,
    ssoSessionMaxLifespan: DAY_SECONDS,
    ssoSessionIdleTimeout: DAY_SECONDS,
    clientScopes: [clientScope('account-info', MAPPERS), clientScope('operation-history', [])],
    clients: [shop, payments],
    users: Array.from({ length: USERS }, (_, n) => user(loginOf(n + 1))),
  };
}

/** @param {string} name @param {string} protocolMapper @param {object} more */
const mapper = (name, protocolMapper, more) => ({
  name,
  protocol: 'openid-connect',
  protocolMapper,
  config: {
    'access.token.claim': 'true',
    'introspection.token.claim': 'true',
    'lightweight.claim': 'true',
    ...more,
  },
});

/** Lightweight tokens contain neither audience nor user by default. */
const MAPPERS = [
  mapper('audience', 'oidc-audience-mapper', { 'included.client.audience': PAYMENTS.id }),
  mapper('sub', 'oidc-sub-mapper', {}),
];

/** @param {string} name @param {object[]} protocolMappers */
const clientScope = (name, protocolMappers) => ({
  name,
  protocolMappers,
  protocol: 'openid-connect',
  attributes: {
    'display.on.consent.screen': 'true',
    'consent.screen.text': name,
    'include.in.token.scope': 'true',
  },
});

/** @param {string} login */
const user = (login) => ({
  username: login,
  email: `${login}@shop.example`,
  emailVerified: true,
  firstName: 'User',
  lastName: login,
  enabled: true,
  credentials: [{ type: 'password', value: PASSWORD, temporary: false }],
});
