import { z } from 'zod';
import { loginKey } from '../../rules/account/loginKey.ts';
import * as registration from '../../rules/account/registration.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { MAX_CANONICAL_QUERY_BYTES } from '../../rules/common/limits.ts';
import { byteLength } from '../../rules/common/text.ts';
import { parseInstanceName } from '../../rules/request/instanceName.ts';
import { parseCeiling } from '../../rules/scope/ceiling.ts';
import { RIGHT_NAMES } from '../../rules/scope/rights.ts';
import { keptScope } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { readHash } from '../../secrets/foreignHash.js';
import { randomHex } from '../../secrets/random.ts';
import { parseToken } from '../../secrets/tokens.ts';

// The fields of a line. What a schema gives has the names of the columns that `store/operate/imports.ts` reads.

const { checkClientId, checkClientSecret, checkClientSettings, checkExternalId } = registration;
const TEXT = z.string({ error: ({ input }) => (input == null ? 'is missing' : 'is no text') });

/** A field; `read` throws the reason why it is bad, without its value. */
const field = <Value>(read: (text: string) => Value) =>
  TEXT.transform((text, context) => {
    try {
      if (/[\0\p{Cs}]/u.test(text)) refuse('has a character that the database can’t store');
      return read(text);
    } catch (error) {
      const message = (error instanceof OAuthError ? error.rule : (error as Error).message).replace(
        /^\w+: /,
        '',
      );
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });

const checked = (check: (text: string) => unknown) =>
  field((text) => {
    check(text);
    return text;
  });

function refuse(reason: string): never {
  throw new Error(reason);
}

const CLIENT_ID = checked(checkClientId);
const LOGIN = checked(registration.checkLogin);
const EXTERNAL_ID = checked(checkExternalId).nullish();
const HASH = field((text) => {
  const read = readHash(text);
  return 'hash' in read ? read.hash : refuse(read.problem);
}).nullish();
const DIGEST = field((text) =>
  /^[0-9a-f]{64}$/i.test(text) ? `\\x${text.toLowerCase()}` : refuse('is no SHA-256 in hex'),
).nullish();
const TIME = field((text) => {
  const isTime = z.iso.datetime({ offset: true }).safeParse(text).success;
  const time = isTime ? new Date(text) : refuse('is no time with a zone, as 2026-11-20T09:30:00Z');
  if (time.getTime() > Date.now()) refuse('is in the future');
  return time.getTime() < 0 ? refuse('is before 1970') : time.toISOString(); // others' “never” is the year 1
});
/** A token in our form names its grant itself, so that an imported one would never be found. */
const TOKEN = field((text) =>
  text !== '' && parseToken('token', text).grantId === null ? sha256(text) : refuse('is empty, or like ours'),
).nullish();

const rowOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? 'is no field of this import' : 'is no JSON object'),
  });

export const USER = rowOf({
  login: LOGIN,
  name: checked(registration.checkName),
  external_id: EXTERNAL_ID,
  password_hash: HASH,
  payment_password_hash: HASH,
  status: z.enum(['active', 'blocked'], 'is neither active nor blocked').default('active'),
  created_at: TIME.nullish(),
}).transform((user) => ({ ...user, key: loginKey(user.login) }));

export const CLIENT = rowOf({
  client_id: CLIENT_ID,
  name: checked(registration.checkName),
  redirect_uri: checked((redirectUri) => checkClientSettings({ redirectUri })),
  secret_sha256: DIGEST,
  secret: checked((secret) => checkClientSecret(secret, true)).nullish(),
  rights: z.array(z.enum(RIGHT_NAMES), 'is no list of rights').nullable().default(null),
  most: field((text) => parseCeiling(text) ?? refuse('is no days and sum, as 30,5000'))
    .nullable()
    .default(null),
  site: checked((site) => checkClientSettings({ site }))
    .nullable()
    .default(null),
  reviewed: z.boolean('is neither true nor false').default(false),
})
  .refine((row) => row.secret == null || row.secret_sha256 == null, 'has both secret and secret_sha256')
  .transform(({ client_id, secret, secret_sha256: digest, rights: allowed_rights, most, ...row }) => {
    const secret_hash = digest ?? (secret == null ? null : sha256(secret));
    const secret_id = secret_hash && randomHex(4);
    const detail = { ...row, allowed_rights, most, verified: secret_hash !== null, secret_id };
    return { ...detail, client_id, secret_hash, most_days: most?.days, most_sum: most?.sum, detail };
  });

export const GRANT = rowOf({
  login: LOGIN.nullish(),
  external_id: EXTERNAL_ID,
  client_id: CLIENT_ID,
  instance_name: field(parseInstanceName).nullish(),
  scope: checked((scope) => {
    if (byteLength(scope) > MAX_CANONICAL_QUERY_BYTES) refuse('is longer than a request may be');
    keptScope(scope, '');
  }),
  token_sha256: DIGEST,
  token: TOKEN,
  issued_at: TIME,
})
  .refine((row) => (row.login == null) !== (row.external_id == null), 'needs either login or external_id')
  .refine((row) => (row.token == null) !== (row.token_sha256 == null), 'needs either token or token_sha256')
  .transform(({ login, token, token_sha256: digest, ...row }) => {
    return { ...row, key: login == null ? null : loginKey(login), token_hash: digest ?? token };
  });
