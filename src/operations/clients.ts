import type pg from 'pg';
import { z } from 'zod';
import { checkClientId, checkClientSettings } from '../rules/account/registration.ts';
import { OperatorError } from '../rules/common/error.ts';
import { lookAlikeProblem } from '../rules/common/lookAlike.ts';
import { type Ceiling, parseCeiling } from '../rules/common/money.ts';
import type { Logo } from '../rules/face/logo.ts';
import type { ClientSettings } from '../rules/request/client.ts';
import { redirectUriDoubt } from '../rules/request/redirectUri.ts';
import { randomId } from '../secrets/random.ts';
import { recordAct } from '../store/common/auditEvents.ts';
import {
  findClient,
  findClients,
  insertClient,
  listClients,
  updateClient,
  writeLogo,
} from '../store/common/clients.ts';
import { transaction } from '../store/database/database.ts';
import { FLAG, ID, LIST_FIELDS, NOTHING_TO_CHANGE, OPTIONAL_FLAG, STATUS, text } from './fields.ts';
import { removeWithGrants } from './grants.ts';
import { BEHIND, findBehind } from './notify.ts';
import { ensureFound, listOperation, type OperationContext, operation } from './operation.ts';
import { blockOperations, makeSecret, SECRET, secretOperations } from './registered.ts';
import { toSnakeCase, withSnakeCaseKeys } from './snakeCase.ts';

const parsed = ({ days, sum }: Ceiling) => parseCeiling(`${days},${sum}`);
const CEILING = z
  .strictObject({ days: z.int(), sum: z.string() })
  .refine(parsed, 'must be a whole number of days and a sum')
  .overwrite((ceiling) => parsed(ceiling) ?? ceiling);

const SETTINGS = {
  name: text('name').describe('the name that users see'),
  redirectUri: text('uri').describe(
    'the redirect URI, to which browsers return; requests must send exactly this, apart from appended parameters',
  ),
  allowedRights: z.array(z.string()).readonly().nullable().describe('rights it may request; null allows all'),
  most: CEILING.nullable().describe('the longest period and the largest sum that a payment limit may have'),
  site: z.string().nullable().describe('the website (https://…) that users see'),
  logo: z.custom<Logo>().nullable().describe('the logo that users see'),
  reviewed: FLAG.describe(
    'mark the application as reviewed: you have checked who runs it. Users see the mark, and a warning on new applications that lack it',
  ),
  userLimits: FLAG.describe(
    'users may lower a limit for a period; the application must read “scope” in the token response',
  ),
  oauth21: FLAG.describe(
    'enforce OAuth 2.1: PKCE is required, a redirect URI on 127.0.0.1 or [::1] may have any port, and responses have “iss”',
  ),
  eventsUri: z
    .string()
    .nullable()
    .describe('the address (https://…) where `assent notify` tells it that an authorization has ended'),
  eventsInternal: FLAG.describe('the address for events may be in your own network'),
};

const CLIENT_ID = z.strictObject({ clientId: ID });
const { name: NAME, redirectUri: REDIRECT_URI, ...FURTHER } = SETTINGS;

const CLIENT_VIEW = z.object({
  clientId: ID,
  name: NAME,
  redirectUri: REDIRECT_URI,
  verified: FLAG,
  status: STATUS,
  ...FURTHER,
  logo: z.string().nullable(),
});

export const create = operation({
  summary: 'register an application; a secret is shown only once',
  input: z.strictObject({
    name: NAME,
    redirectUri: REDIRECT_URI,
    verified: OPTIONAL_FLAG.describe(
      'issue a client secret, which the token endpoint then requires (confidential client)',
    ),
    allowedRights: SETTINGS.allowedRights.default(null),
    most: SETTINGS.most.default(null),
    site: SETTINGS.site.default(null),
    logo: SETTINGS.logo.default(null),
    reviewed: SETTINGS.reviewed.default(false),
    userLimits: SETTINGS.userLimits.default(false),
    oauth21: SETTINGS.oauth21.default(false),
    eventsUri: SETTINGS.eventsUri.default(null),
    eventsInternal: SETTINGS.eventsInternal.default(false),
    id: text('id').optional().describe('use this existing client_id instead of a new one'),
    secret: SECRET,
    force: OPTIONAL_FLAG.describe('accept a look-alike name, a weak secret and an unsafe redirect URI'),
  }),
  output: CLIENT_VIEW.extend({
    clientSecret: z.string().optional().describe('the new secret, shown only once'),
  }),
  async run(context, { id: clientId = randomId(), secret: existingSecret, logo, force, ...given }) {
    const { operator } = context;
    const verified = given.verified || existingSecret !== undefined;
    const settings = { ...given, verified, logo: logo?.file ?? null };
    checkClientId(clientId);
    const warnings = await checkSettings(context, settings, force);
    const detail = withSnakeCaseKeys(settings);
    const secret = await transaction(context.db, async (db) => {
      if ((await insertClient(db, { clientId, ...settings })) === 0)
        throw new OperatorError('state', `the client id ${clientId} is taken`);
      if (logo !== null) await writeLogo(db, clientId, logo);
      await recordAct(db, { kind: 'client_created', operator, clientId, detail });
      const newSecret =
        verified && (await makeSecret(db, 'client', clientId, operator, existingSecret, force));
      return newSecret && existingSecret === undefined && { clientSecret: newSecret.secret };
    });
    for (const warning of warnings) context.warn(warning);
    return { clientId, status: 'active' as const, ...settings, ...secret };
  },
});

export const list = listOperation({
  summary: 'list the applications',
  input: z.strictObject(LIST_FIELDS),
  output: CLIENT_VIEW,
  run: async ({ db }, filter) => listClients(db, filter),
  after: ({ clientId }) => clientId,
});

export const show = operation({
  summary: 'show an application',
  input: CLIENT_ID,
  output: CLIENT_VIEW.extend({
    eventsBehind: BEHIND.optional().describe('if its address for events fails, or is being caught up'),
  }),
  effect: 'reads',
  async run({ db }, { clientId }) {
    const client = await requireClient(db, clientId);
    const eventsBehind = client.eventsUri === null ? null : await findBehind(db, clientId);
    return { ...client, ...(eventsBehind && { eventsBehind }) };
  },
});

export const update = operation({
  summary: 'change an application: open consent pages and unused codes become invalid, tokens stay valid',
  input: z
    .strictObject({
      clientId: ID,
      ...z.object(SETTINGS).exactPartial().shape,
      force: FLAG.exactOptional().describe('accept a look-alike name and an unsafe redirect URI'),
    })
    .refine(({ clientId, ...change }) => Object.keys(change).length > 0, NOTHING_TO_CHANGE),
  output: CLIENT_VIEW,
  async run(context, { clientId, force = false, logo, ...others }) {
    const settings = { ...others, ...(logo !== undefined && { logo: logo?.file ?? null }) };
    const warnings = await checkSettings(context, settings, force, clientId);
    const client = await transaction(context.db, async (db) => {
      const { before, after } = ensureFound(await updateClient(db, clientId, settings), 'client', clientId);
      if (logo !== undefined) await writeLogo(db, clientId, logo);
      const changes = (Object.keys(SETTINGS) as (keyof ClientSettings)[])
        .map((name) => [toSnakeCase(name), { from: before[name], to: after[name] }] as const)
        .filter(([, { from, to }]) => JSON.stringify(from) !== JSON.stringify(to));
      const changed = Object.fromEntries(changes);
      const act = { kind: 'client_updated', operator: context.operator, clientId, detail: changed } as const;
      if (Object.keys(changed).length > 0) await recordAct(db, act);
      return { ...after, changed };
    });
    for (const warning of warnings) context.warn(warning);
    return client;
  },
});

export const [block, unblock] = blockOperations('client', {
  block: 'block an application: refuse its requests, codes and tokens until it is unblocked',
  unblock: 'unblock an application; its tokens work again',
});

export const remove = operation({
  summary: 'delete an application with its secrets, and revoke all its authorizations',
  input: CLIENT_ID,
  output: z.object({ clientId: z.string(), status: z.literal('deleted'), revoked: z.int() }),
  effect: 'destroys',
  async run(context, { clientId }) {
    const { name } = await requireClient(context.db, clientId);
    const deed = `delete the application ${name} and `;
    const blocked = () => block.run(context, { clientId });
    return { clientId, ...(await removeWithGrants(context, 'client', clientId, deed, blocked)) };
  },
});

export const secret = secretOperations('client', requireClient, (client) => {
  const why = 'is a public client, registered without `verified`, so it has no secrets';
  if (!client.verified) throw new OperatorError('state', `${client.clientId} ${why}`);
});

async function requireClient(db: pg.Pool, clientId: string) {
  return ensureFound(await findClient(db, clientId), 'client', clientId);
}

/** @returns warnings about accepted settings @throws {OperatorError} */
async function checkSettings(
  { db, serviceNames, offer }: OperationContext,
  settings: Partial<ClientSettings>,
  force: boolean,
  clientId?: string,
): Promise<string[]> {
  checkClientSettings(settings, settings.allowedRights ? (await offer()).catalogue : undefined);
  const { name, redirectUri = 'about:' } = settings;
  const doubt = redirectUriDoubt(redirectUri);
  const fix = 'choose another, or pass `force`';
  if (doubt && !force)
    throw new OperatorError('refused_value', `the redirect URI ${doubt}: ${fix}`, 'redirect_uri');
  const warnings = doubt ? [`the redirect URI ${doubt}`] : [];
  if (name === undefined) return warnings;
  const others = (await findClients(db)).filter((client) => client.clientId !== clientId);
  const names = others.map((client) => client.name);
  const problem = force ? undefined : lookAlikeProblem(name, names, serviceNames());
  if (problem !== undefined) throw new OperatorError('refused_value', `the name ${problem}: ${fix}`, 'name');
  if (names.includes(name))
    warnings.push(`another application has the name “${name}”, too: users can’t tell them apart`);
  return warnings;
}
