import { z } from 'zod';
import { loginKey } from '../../rules/account/loginKey.ts';
import * as registration from '../../rules/account/registration.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { MAX_CANONICAL_QUERY_BYTES } from '../../rules/common/limits.ts';
import { byteLength } from '../../rules/common/text.ts';
import { parseInstanceName } from '../../rules/request/authorizationRequest.ts';
import { parseCeiling } from '../../rules/scope/ceiling.ts';
import { RIGHT_NAMES } from '../../rules/scope/rights.ts';
import { keptScope } from '../../rules/scope/scope.ts';
import { type Digest, sha256 } from '../../secrets/digest.ts';
import { readHash } from '../../secrets/foreignHash.js';
import { randomHex } from '../../secrets/random.ts';
import { parseToken } from '../../secrets/tokens.ts';

// The fields of a line. What a schema gives has the names of the columns that `store/operate/imports.ts` reads.

const TEXT = z
  .string({ error: ({ input }) => (input == null ? 'is missing' : 'is no text') })
  .regex(/^[^\0\p{Cs}]*$/u, 'has a character that the database can’t store');

/** Text that passes `check`, which throws the reason why it is bad, without its value. */
const checked = (check: (text: string) => unknown) =>
  TEXT.superRefine((text, context) => {
    try {
      check(text);
    } catch (error) {
      const reason = error instanceof OAuthError ? error.rule : (error as Error).message;
      context.addIssue(reason.replace(/^\w+: /, ''));
    }
  });

const LOGIN = checked(registration.checkLogin);
const CLIENT_ID = checked(registration.checkClientId);
const EXTERNAL_ID = checked(registration.checkExternalId).nullish();
const SECRET = checked((secret) => registration.checkClientSecret(secret, true)).transform(sha256);
const HASH = TEXT.transform((text, context) => {
  const read = readHash(text);
  if ('problem' in read) context.addIssue(read.problem);
  return 'hash' in read ? read.hash : '';
}).nullish();
const DIGEST = TEXT.regex(/^[0-9a-f]{64}$/i, 'is no SHA-256 in hex')
  .transform((hex): Digest => `\\x${hex.toLowerCase()}`)
  .nullish();
const ISO = z.iso.datetime({ offset: true, error: 'is no time with a zone, as 2026-11-20T09:30:00Z' });
const TIME = TEXT.pipe(ISO)
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() <= Date.now(), 'is in the future')
  .refine((time) => time.getTime() >= 0, 'is before 1970'); // others' “never” is the year 1
/** A token in our form names its grant itself, so that an imported one would never be found. */
const TOKEN = TEXT.refine((text) => text && !parseToken('token', text).grantId, 'is empty, or like ours')
  .transform(sha256)
  .nullish();
const rowOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, 'is no JSON object');

export const USER = rowOf({
  login: LOGIN,
  name: checked(registration.checkName),
  external_id: EXTERNAL_ID,
  password_hash: HASH,
  payment_password_hash: HASH,
  status: z.enum(['active', 'blocked'], 'is neither active nor blocked').default('active'),
  created_at: TIME.nullish(),
}).transform((user) => {
  const key = loginKey(user.login);
  return { ...user, key, id: key };
});

export const CLIENT = rowOf({
  client_id: CLIENT_ID,
  name: checked(registration.checkName),
  redirect_uri: checked((redirectUri) => registration.checkClientSettings({ redirectUri })),
  secret_sha256: DIGEST,
  secret: SECRET.nullish(),
  rights: z
    .array(z.enum(RIGHT_NAMES), 'is no list of rights')
    .max(RIGHT_NAMES.length, 'names too many')
    .nullish(),
  most: TEXT.transform(parseCeiling).refine(Boolean, 'is no days and sum, as 30,5000').nullish(),
  site: checked((site) => registration.checkClientSettings({ site })).nullish(),
  reviewed: z.boolean('is neither true nor false').default(false),
})
  .refine((row) => row.secret == null || row.secret_sha256 == null, 'has both secret and secret_sha256')
  .transform(({ client_id, secret, secret_sha256, rights = null, most = null, site = null, ...row }) => {
    const secret_hash = secret_sha256 ?? secret ?? null;
    const secret_id = secret_hash && randomHex(4);
    const detail = { ...row, allowed_rights: rights, most, site, verified: secret_hash !== null, secret_id };
    const columns = { ...detail, client_id, secret_hash, most_days: most?.days, most_sum: most?.sum };
    return { ...columns, detail, id: client_id };
  });

export const GRANT = rowOf({
  login: LOGIN.nullish(),
  external_id: EXTERNAL_ID,
  client_id: CLIENT_ID,
  instance_name: checked(parseInstanceName).nullish(),
  scope: checked((scope) => {
    if (byteLength(scope) > MAX_CANONICAL_QUERY_BYTES) throw new Error('is longer than a request may be');
    keptScope(scope, '');
  }),
  token_sha256: DIGEST,
  token: TOKEN,
  issued_at: TIME,
})
  .refine((row) => (row.login == null) !== (row.external_id == null), 'needs either login or external_id')
  .refine((row) => (row.token == null) !== (row.token_sha256 == null), 'needs either token or token_sha256')
  .transform(({ login, token, token_sha256, ...row }) => {
    const token_hash = token_sha256 ?? token;
    return { ...row, key: login && loginKey(login), token_hash, id: token_hash };
  });
