import { z } from 'zod';
import { loginKey } from '../../rules/account/loginKey.ts';
import * as registration from '../../rules/account/registration.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { MAX_CANONICAL_QUERY_BYTES, MAX_CUSTOM_RIGHTS } from '../../rules/common/limits.ts';
import { parseCeiling } from '../../rules/common/money.ts';
import { recordOf } from '../../rules/common/recordOf.ts';
import { parseInstanceName } from '../../rules/request/authorizationRequest.ts';
import { redirectUriDoubt } from '../../rules/request/redirectUri.ts';
import { BUILT_IN_RIGHTS, isRightName } from '../../rules/scope/rights.ts';
import { parseScope } from '../../rules/scope/scope.ts';
import { type Digest, sha256 } from '../../secrets/digest.ts';
import { readHash } from '../../secrets/foreignHash.js';
import { randomHex } from '../../secrets/random.ts';
import { parseToken } from '../../secrets/tokens.ts';

// The fields of a line. What a schema gives has the names of the columns that `store/operate/imports.ts` reads, and `doubts`.

const TEXT = z
  .string({ error: ({ input }) => (input == null ? 'is missing' : 'must be a string') })
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
const SECRET = checked((secret) => registration.checkExistingSecret('secret', secret)).nullish();
const HASH = TEXT.transform((text, context) => {
  const read = readHash(text);
  if ('problem' in read) context.addIssue(read.problem);
  return read;
}).nullish();
/** Exports digest what they write for no value. */
const OF_NOTHING: readonly string[] = ['', 'null', 'NULL', 'None', 'nil', 'undefined', '\\N'].map(sha256);
const DIGEST = TEXT.regex(/^[0-9a-f]{64}$/i, 'is not a SHA-256 in hex')
  .transform((hex): Digest => `\\x${hex.toLowerCase()}`)
  .refine((digest) => !OF_NOTHING.includes(digest), 'is the SHA-256 of an empty value')
  .nullish();
const TIME = TEXT.pipe(
  z.iso.datetime({ offset: true, error: 'must be a time with a time zone, such as 2026-11-20T09:30:00Z' }),
)
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() <= Date.now(), 'is in the future')
  .refine((time) => time.getTime() >= 0, 'is before 1970'); // others' “never” is the year 1
/** A token in our form names its grant itself, so that an imported one would never be found. */
const TOKEN = checked((token) => registration.checkExistingSecret('token', token))
  .refine((text) => !parseToken('token', text).grantId, 'has the form of Assent’s own tokens')
  .nullish();
const FLAG = z.boolean('is neither true nor false').default(false);
const rowOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, 'must be a JSON object');

/** What `--force` accepts alone, by the field of a doubt. */
export const FORCE_VALUE_BY_FIELD: Readonly<Record<string, string>> = {
  name: 'look-alike',
  ...recordOf(['secret', 'token'], 'weak-secret'),
  ...recordOf(['password_hash', 'payment_password_hash'], 'costly-hash'),
  redirect_uri: 'ambiguous-uri',
};

/** What only `--force` accepts, with its field. */
const doubtsOf = (reasons: Record<string, string | null | undefined>) =>
  Object.entries(reasons).flatMap(([field, reason]) => (reason ? [`${field}: ${reason}`] : []));
const slowness = (hash: z.output<typeof HASH>) =>
  hash?.costly ? 'is slow to check: pass `force` to accept that' : undefined;
/** In the trail, by the names of fields: the next import knows a hash by it, though the first sign-in replaces that. */
const digestsOf = (hashes: Record<string, string | null | undefined>) =>
  Object.fromEntries(
    Object.entries(hashes).flatMap(([field, hash]) => (hash ? [[field, sha256(hash).slice(2, 18)]] : [])),
  );
/** Hashes of one password with one salt have the same end. */
const endOf = (read: z.output<typeof HASH>) => read?.hash?.split('$').at(-1);

export const USER_ROW = rowOf({
  login: LOGIN,
  name: checked(registration.checkName),
  external_id: EXTERNAL_ID,
  password_hash: HASH,
  payment_password_hash: HASH,
  status: z.enum(['active', 'blocked'], 'is neither active nor blocked').optional(),
  created_at: TIME.nullish(),
})
  .refine(({ password_hash: one, payment_password_hash: other }) => !other || endOf(one) !== endOf(other), {
    path: ['payment_password_hash'],
    error: 'is also the hash of the password: omit it',
  })
  .transform(({ password_hash: one, payment_password_hash: other, ...row }) => {
    const [key, password_hash, payment_password_hash] = [loginKey(row.login), one?.hash, other?.hash];
    const doubts = doubtsOf({ password_hash: slowness(one), payment_password_hash: slowness(other) });
    const hashes = digestsOf({ password_hash, payment_password_hash });
    return { ...row, key, password_hash, payment_password_hash, hashes, doubts };
  });

export const CLIENT_ROW = rowOf({
  client_id: CLIENT_ID,
  name: checked(registration.checkName),
  redirect_uri: checked((redirectUri) => registration.checkClientSettings({ redirectUri })),
  secret_sha256: DIGEST,
  secret: SECRET,
  rights: z
    .array(z.string().refine(isRightName, 'is not the name of a right'), 'must be a list of rights')
    .min(1, 'is empty: omit it for all rights')
    .max(BUILT_IN_RIGHTS.size + MAX_CUSTOM_RIGHTS, 'lists too many rights')
    .nullish(),
  most: TEXT.transform(parseCeiling).refine(Boolean, 'must be days and a sum, such as 30,5000').nullish(),
  site: checked((site) => registration.checkClientSettings({ site })).nullish(),
  reviewed: FLAG,
  oauth21: FLAG,
  events_uri: checked((eventsUri) => registration.checkClientSettings({ eventsUri })).nullish(),
  events_internal: FLAG,
})
  .refine((row) => row.secret == null || row.secret_sha256 == null, 'has both secret and secret_sha256')
  .transform(({ client_id, secret, secret_sha256, rights = null, ...row }) => {
    const { most = null, site = null, events_uri = null } = row;
    const secret_hash = secret_sha256 ?? (secret ? sha256(secret) : null);
    const secret_id = secret_hash && randomHex(4);
    const given = { ...row, most, site, events_uri };
    const detail = { ...given, allowed_rights: rights, verified: secret_hash !== null, secret_id };
    const columns = { ...detail, client_id, secret_hash, most_days: most?.days, most_sum: most?.sum };
    // Its scheme is in use at the earlier service.
    const doubt = redirectUriDoubt(row.redirect_uri.replace(/^[^:]+/, 'https'));
    const doubts = doubtsOf({
      secret: secret && registration.checkExistingSecret('secret', secret),
      redirect_uri: doubt && `${doubt}: pass \`force\` to accept that`,
    });
    return { ...columns, detail, doubts };
  });

/** A scope is judged with its application, in the transaction that writes. */
export const GRANT_ROW = rowOf({
  login: LOGIN.nullish(),
  external_id: EXTERNAL_ID,
  client_id: CLIENT_ID,
  instance_name: checked(parseInstanceName)
    .transform((name) => name || null)
    .nullish(),
  scope: checked((scope) => {
    parseScope(scope, '');
    if (encodeURIComponent(scope).length > MAX_CANONICAL_QUERY_BYTES)
      throw new Error('exceeds the maximum length of a request');
  }),
  token_sha256: DIGEST,
  token: TOKEN,
  issued_at: TIME,
})
  .refine((row) => row.login != null || row.external_id != null, 'needs login or external_id, or both')
  .refine((row) => (row.token == null) !== (row.token_sha256 == null), 'needs either token or token_sha256')
  .transform(({ login, token, token_sha256, ...row }) => {
    const [key, token_hash] = [login && loginKey(login), token_sha256 ?? sha256(token ?? '')];
    const doubts = doubtsOf({ token: token && registration.checkExistingSecret('token', token) });
    return { ...row, key, token_hash, doubts };
  });
