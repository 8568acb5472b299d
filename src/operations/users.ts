import type pg from 'pg';
import { z } from 'zod';
import { loginKey } from '../rules/account/loginKey.ts';
import { checkExternalId, checkLogin, checkName, checkPassword } from '../rules/account/registration.ts';
import { OperatorError } from '../rules/common/error.ts';
import { sha256 } from '../secrets/digest.ts';
import { hashPassword, verifyPassword } from '../secrets/password.ts';
import { endWaits, findWait } from '../store/account/throttles.ts';
import { type OperatorAct, recordAct } from '../store/common/auditEvents.ts';
import { deleteSessionsOfUser } from '../store/common/sessions.ts';
import * as store from '../store/common/users.ts';
import { type Database, transaction } from '../store/database/database.ts';
import { REGISTRATION_STATEMENTS } from '../store/operate/registered.ts';
import { LIST_FIELDS, LOGIN, LOGIN_OR_ID, NOTHING_TO_CHANGE, OPTIONAL_FLAG, STATUS, text } from './fields.ts';
import { removeWithGrants } from './grants.ts';
import { ensureFound, listOperation, operation } from './operation.ts';

const PASSWORDS = {
  password: z.string().describe('the password'),
  paymentPassword: z.string().nullable().default(null).describe('the payment password; null for none'),
  allowWeak: OPTIONAL_FLAG.describe('accept passwords that are short, easy to guess, or equal to each other'),
};

type Passwords = Record<'password' | 'paymentPassword', string | null> & { allowWeak: boolean };

const BY_LOGIN = z.strictObject({ login: LOGIN_OR_ID });
const ABOUT = { userId: z.string(), login: z.string() };
const USER_VIEW = z.object({ ...ABOUT, name: z.string(), status: STATUS, externalId: z.string().nullable() });
const NAME = text('name').describe('the name that pages show');

export const create = operation({
  summary: 'create a user',
  input: z.strictObject({
    login: LOGIN,
    ...PASSWORDS,
    password: PASSWORDS.password.nullable().default(null).describe('the password; null with an external id'),
    name: NAME,
    externalId: text('id').optional().describe('the user’s `sub` at the provider, or another id'),
  }),
  output: z.object(ABOUT),
  async run({ db: pool, operator, serviceNames }, user) {
    const { login, name, externalId = null } = user;
    checkName(name);
    checkLogin(login);
    if (externalId !== null) checkExternalId(externalId);
    else if (user.password === null)
      throw new OperatorError('invalid_field', 'pass `password`, `external_id` or both', 'password');
    const hashes = await hashPasswords(user, user, serviceNames());
    return transaction(pool, async (db) => {
      const made = await store.insertUser(db, { login, key: loginKey(login), name, ...hashes });
      if (made === null) throw new OperatorError('state', `the login ${login} is taken`);
      const { userId } = made;
      const others = { login: null, key: null, name: null, externalId };
      if ((await store.updateUser(db, { userId, ...others })) === null)
        throw new OperatorError('state', 'another user has the external id');
      await recordAct(db, { kind: 'user_created', operator, userId, detail: detailOf(user) });
      return { userId, login };
    });
  },
});

export const list = listOperation({
  summary: 'list the users, in the order of their logins',
  input: z.strictObject({
    ...LIST_FIELDS,
    login: text('text').exactOptional().describe('list only users whose login contains this text'),
    search: text('words')
      .exactOptional()
      .describe('list only users whose login and name have words that begin so, by an index; 200 at most'),
    externalId: text('id').exactOptional().describe('list only the user with this external id'),
  }),
  output: USER_VIEW,
  run: async ({ db }, filter) => store.listUsers(db, filter),
  after: ({ login }) => login,
});

export const show = operation({
  summary: 'show a user',
  input: BY_LOGIN,
  output: USER_VIEW.extend({
    waitSeconds: z.int().describe('the longest wait after wrong passwords; 0 for none'),
  }),
  effect: 'reads',
  async run({ db }, { login }) {
    const user = await requireUser(db, login);
    return { ...user, waitSeconds: (await findWait(db, user)).seconds };
  },
});

/** Another external id ends sessions, which it proves at the provider. The trail names fields only: it outlives the user. */
export const update = operation({
  summary:
    'change a user’s login, name or id in another system; passwords and authorizations stay, and another id ends the sessions',
  input: z
    .strictObject({
      login: LOGIN_OR_ID,
      newLogin: text('login').optional().describe('the new login'),
      name: NAME.optional(),
      externalId: text('id')
        .optional()
        .describe('the user’s id in another system, which introspection shows, or "" for none'),
    })
    .refine(({ login, ...change }) => Object.keys(change).length > 0, NOTHING_TO_CHANGE),
  output: USER_VIEW,
  async run({ db: pool, operator }, { login, newLogin = null, name = null, externalId = null }) {
    if (newLogin !== null) checkLogin(newLogin);
    if (name !== null) checkName(name);
    if (externalId) checkExternalId(externalId);
    const key = newLogin === null ? null : loginKey(newLogin);
    return transaction(pool, async (db) => {
      const { userId, ...before } = await requireUser(db, login);
      const user = await store.updateUser(db, { userId, login: newLogin, key, name, externalId });
      if (user === null) throw new OperatorError('state', 'another user has the login or the external id');
      if (externalId !== null) await deleteSessionsOfUser(db, { userId });
      const changed = Object.entries({ login: newLogin, name, external_id: externalId });
      const fields = changed.flatMap(([field, value]) => (value === null ? [] : [field]));
      const names = digestsOf(newLogin && before.login, externalId === null ? null : before.externalId);
      await recordAct(db, { kind: 'user_updated', operator, userId, detail: { fields, names } });
      return user;
    });
  },
});

const toStatus = (status: store.User['status'], summary: string) =>
  operation({
    summary,
    input: BY_LOGIN,
    output: z.object({ ...ABOUT, status: STATUS }),
    effect: 'supports',
    async run({ db: pool, operator }, { login }) {
      const act = { kind: status === 'blocked' ? 'user_blocked' : 'user_unblocked', operator } as const;
      const { setStatus } = REGISTRATION_STATEMENTS.user;
      const done = await changeUser(pool, login, act, async (db, id) => {
        const set = await setStatus(db, { id, status });
        const ended = status === 'active' && (await endWaits(db, { userId: id })) > 0;
        return set && { changed: set.changed || ended };
      });
      return { ...done, status };
    },
  });

export const block = toStatus(
  'blocked',
  'block a user: end the sessions, refuse sign-ins, codes and tokens until the user is unblocked',
);

export const unblock = toStatus(
  'active',
  'unblock a user: sign-in and unrevoked tokens work again, and waits after wrong passwords end',
);

export const signOut = operation({
  summary: 'end a user’s sessions; authorizations stay',
  input: BY_LOGIN,
  output: z.object({ ...ABOUT, done: z.literal('signed_out') }),
  effect: 'supports',
  async run({ db: pool, operator }, { login }) {
    const act = { kind: 'user_signed_out', operator } as const;
    return { ...(await changeUser(pool, login, act)), done: 'signed_out' as const };
  },
});

/** Ends all sessions of the user: an attacker may know the old password. */
export const setPassword = operation({
  summary: 'set a new password, and a new payment password if one is given; end the user’s sessions',
  input: z.strictObject({ login: LOGIN_OR_ID, ...PASSWORDS }),
  output: z.object({ ...ABOUT, done: z.literal('password_set') }),
  async run({ db: pool, operator, serviceNames }, { login, ...passwords }) {
    const user = await requireUser(pool, login);
    const hashes = await hashPasswords(passwords, user, serviceNames());
    const act = { kind: 'user_password_set', operator, detail: detailOf(passwords) } as const;
    const set = (db: Database, userId: string) => store.updateUserPasswords(db, { userId, ...hashes });
    return { ...(await changeUser(pool, user.userId, act, set)), done: 'password_set' as const };
  },
});

export const remove = operation({
  summary:
    'erase a user, sessions and authorizations; the trail keeps the id, and hashes of login and external id',
  input: BY_LOGIN,
  output: z.object({ userId: z.string(), status: z.literal('deleted'), revoked: z.int() }),
  effect: 'destroys',
  async run(context, input) {
    const { userId, login, externalId } = await requireUser(context.db, input.login);
    const deed = `erase the user ${login} for good and `;
    const blocked = () => block.run(context, { login: userId });
    const detail = { names: digestsOf(login, externalId) };
    return { userId, ...(await removeWithGrants(context, 'user', userId, deed, blocked, detail)) };
  },
});

/** By these an import knows what a user was called. */
const digestsOf = (login: string | null, externalId: string | null) =>
  [login && `login ${loginKey(login)}`, externalId && `external_id ${externalId}`].flatMap((name) =>
    name ? sha256(name) : [],
  );

async function requireUser(db: Database, login: string) {
  return ensureFound(await store.findUser(db, login), 'user', login);
}

/** Changes a user. A second statement ends sessions: it sees sign-ins that the first waited for. @throws {OperatorError} */
function changeUser(
  pool: pg.Pool,
  named: string,
  act: OperatorAct,
  change: (db: Database, userId: string) => Promise<{ changed?: boolean } | null> = async () => ({}),
) {
  return transaction(pool, async (db) => {
    const { userId, login } = await requireUser(db, named);
    const { changed = true } = ensureFound(await change(db, userId), 'user', named);
    if (act.kind !== 'user_unblocked') await deleteSessionsOfUser(db, { userId });
    if (changed) await recordAct(db, { ...act, userId });
    return { userId, login, changed };
  });
}

const detailOf = ({ paymentPassword }: Passwords) => ({ payment_password: paymentPassword !== null });

/** Refuses the same passwords as the user's own page (`changePassword.ts`), unless weak ones are allowed. */
async function hashPasswords(
  { password, paymentPassword, allowWeak }: Passwords,
  user: Pick<store.User, 'login' | 'name'> & Partial<store.PasswordHashes>,
  serviceNames: readonly string[],
) {
  const hash = async (field: string, one: string | null) => {
    if (one === null) return null;
    checkPassword(field, one, allowWeak);
    return hashPassword(one);
  };
  const passwordHash = await hash('password', password);
  const paymentHash = await hash('payment_password', paymentPassword);
  if (!allowWeak) {
    const { isCommonPassword, isOwnName } = await import('../rules/account/commonPassword.ts'); // takes 15 MB
    const names = [user.login, user.name, ...serviceNames];
    const ticket = { queue: 'stranger', key: '', until: Number.POSITIVE_INFINITY } as const;
    const otherHash = paymentHash ?? user.paymentPasswordHash ?? null;
    const isSame = password !== null && (await verifyPassword(otherHash, password, ticket));
    const isWeak = (one: string | null) => one !== null && (isCommonPassword(one) || isOwnName(one, names));
    const weak = 'is easy to guess: common, or a name of the user or the service';
    const problem =
      (isWeak(password) && `the password ${weak}`) ||
      (isWeak(paymentPassword) && `the payment password ${weak}`) ||
      (isSame && 'password and payment password are the same');
    if (problem)
      throw new OperatorError(
        'refused_value',
        `${problem}: use another one, or pass \`allow_weak\``,
        'password',
      );
  }
  return { passwordHash, paymentPasswordHash: paymentHash };
}
